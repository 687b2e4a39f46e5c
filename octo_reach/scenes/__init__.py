"""Scene files: the strict loader, the checked document, and what is built from it."""

from octo_reach.scenes.building import apply_event, build_octopus
from octo_reach.scenes.conversion import to_metres
from octo_reach.scenes.document import (
    ArmDefaults,
    Event,
    FileArm,
    FileObject,
    NewObject,
    SceneDocument,
)
from octo_reach.scenes.errors import SceneError
from octo_reach.scenes.reading import load_scene, parse_scene, read_scene_text
from octo_reach.scenes.writing import save_scene, scene_text, scene_to_mapping

__all__ = [
    "ArmDefaults",
    "Event",
    "FileArm",
    "FileObject",
    "NewObject",
    "SceneDocument",
    "SceneError",
    "apply_event",
    "build_octopus",
    "load_scene",
    "parse_scene",
    "read_scene_text",
    "save_scene",
    "scene_text",
    "scene_to_mapping",
    "to_metres",
]
