"""The ninety public reaches: one arm, one target, up to eight obstacles; every one can be reached.

They are what planners are compared on. Of each it is known what comes of it under the neighbour
rules.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from octo_reach.installation import share_path
from octo_reach.scenes.document import SceneDocument
from octo_reach.scenes.reading import parse_scene

PUBLIC = "public"
"""What they are called together, where a scene is asked for."""


@dataclass(frozen=True)
class PublicReach:
    """One of the reaches.

    Attributes:
        name: what it is called.
        document: the scene, in pixels.
        neighbour_ticks: steps of 1/120 s until the neighbour rules bring the tip within the reach
            tolerance; None where they do not within 20 s.
    """

    name: str
    document: SceneDocument
    neighbour_ticks: int | None


def public_reaches() -> list[PublicReach]:
    """Give the ninety reaches in their order.

    Raises:
        FileNotFoundError: the package was installed without its data files.
    """
    text = share_path("config", "reach_public.json").read_text(encoding="utf-8")
    values: dict[str, Any] = json.loads(text)
    return [
        PublicReach(reach["name"], _document(values["arm"], reach), reach["neighbour_ticks"])
        for reach in values["reaches"]
    ]


def _document(arm: dict[str, Any], reach: dict[str, Any]) -> SceneDocument:
    return parse_scene(
        {
            "version": 1,
            "name": reach["name"],
            "layout": "listed",
            "body": arm["base"],
            "defaults": {
                "segment_count": arm["segment_count"],
                "segment_length": arm["segment_length"],
            },
            "obstacles": [{"position": [x, y], "radius": r} for x, y, r in reach["obstacles"]],
            "arms": [
                {
                    "number": arm["number"],
                    "base": arm["base"],
                    "heading_degrees": arm["heading_degrees"],
                    "target": {"position": reach["target"]},
                }
            ],
        },
        reach["name"],
    )
