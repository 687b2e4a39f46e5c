from __future__ import annotations

import io
import math
import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("PIL")

import matplotlib
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle
from PIL import Image

from octo_reach.cli import main
from octo_reach.model.compilation import COMPILED
from octo_reach.model.scene import ObjectKind
from octo_reach.pictures import palette
from octo_reach.pictures.animation import save_animation
from octo_reach.pictures.drawing import drawing_style
from octo_reach.pictures.legend import key_entries, moving_entries
from octo_reach.pictures.picture import draw_picture, save_picture
from octo_reach.pictures.recording import FRAME_RATE, Recording
from octo_reach.pictures.shapes import (
    BASE_HALF_WIDTH,
    STOUTEST,
    arm_outline,
    half_widths,
    limb_scale,
    smooth_line,
    view_limits,
)
from octo_reach.scenes import load_scene, parse_scene
from octo_reach.scenes.running import run_scene
from octo_reach.scenes.shipped import find_scene

PIXELS = {
    "version": 1,
    "name": "pixels",
    "layout": "listed",
    "food": [{"position": [60, 0], "radius": 20}, {"position": [-150, 0], "radius": 12}],
    "obstacles": [{"position": [200, -80], "radius": 20}],
    "hazards": [{"position": [180, 160], "radius": 20}],
    "arms": [
        {"number": 1, "base": [0, 0], "heading_degrees": 0, "target": {"position": [60, 0]}},
        {"number": 2, "base": [0, 200], "heading_degrees": 90},
    ],
    "events": [
        {"tick": 60, "arm": 1, "reach": [120, 60]},
        {"tick": 70, "remove": 2},
        {"tick": 80, "arm": 2, "reach": [60, 300]},
    ],
}
QUIET = {
    "version": 1,
    "name": "quiet",
    "units": "metre",
    "layout": "listed",
    "arms": [{"number": 1, "base": [0, 0], "heading_degrees": 90}],
}


def record(scene: dict | str, seconds: float, frame_rate: float | None = None) -> Recording:
    document = load_scene(find_scene(scene)) if isinstance(scene, str) else parse_scene(scene)
    recording = Recording(frame_rate)
    for octopus in run_scene(document, round(seconds * 120)):
        recording.record(octopus)
    recording.finish()
    return recording


@pytest.fixture(scope="module")
def pixels() -> Recording:
    return record(PIXELS, 2.0, FRAME_RATE)


@pytest.fixture(scope="module")
def quiet() -> Recording:
    return record(QUIET, 1.0, FRAME_RATE)


@pytest.fixture
def drawn():
    """Draw a picture and keep its style until the test is over: text is measured in it."""
    with drawing_style():
        yield lambda recording: draw_picture(recording, "A title with $ and _")


def texts(figure) -> list:
    figure.canvas.draw()
    artists = [text for axes in figure.axes for text in axes.texts]
    return [text for text in artists if text.get_text()]


# ---------------------------------------------------------------- what is recorded


def test_a_recording_keeps_start_end_paths_and_every_place_an_arm_was_sent_to(pixels):
    assert pixels.first.seconds == 0.0
    assert pixels.last.seconds == pytest.approx(2.0)
    assert pixels.sent == {1: [(60.0, 0.0), (120.0, 60.0)], 2: [(60.0, 300.0)]}
    path = pixels.tip_path(1)
    assert path[0].tolist() == pixels.first.joints[0][-1].tolist()
    assert path[-1].tolist() == pixels.last.joints[0][-1].tolist()


def test_a_recording_knows_what_was_carried_moved_and_removed(pixels):
    assert [thing.number for thing in pixels.carried] == [1]
    assert [thing.number for thing in pixels.displaced] == [1, 2]
    assert pixels.displaced[0].position == (60.0, 0.0)
    assert [thing.number for thing in pixels.seen] == [1, 2, 3, 4]


def test_where_nothing_happens_nothing_moved(quiet):
    assert quiet.moved_arms == frozenset()
    assert (quiet.carried, quiet.displaced) == ((), ())


def test_the_home_an_arm_retracts_to_is_no_place_it_was_sent_to():
    recording = record("grasp_and_carry", 11.0)
    assert recording.sent == {1: [(-0.21, 0.1), (0.15, 0.07)]}


def test_frames_are_25_a_second_from_the_first_step_at_or_after_their_time(pixels):
    seconds = [frame.seconds for frame in pixels.frames]
    assert len(seconds) == 51
    assert seconds == pytest.approx([math.ceil(4.8 * n - 1e-9) / 120 for n in range(51)])


def test_without_a_frame_rate_no_frame_is_kept():
    assert record(QUIET, 0.5).frames == []


# ---------------------------------------------------------------- shapes


def curl(count: int = 20) -> np.ndarray:
    headings = np.cumsum(np.full(count, math.pi / 3))
    steps = 18.0 * np.stack([np.cos(headings), np.sin(headings)], axis=1)
    return np.vstack([[0.0, 0.0], np.cumsum(steps, axis=0)])


def test_the_smooth_line_goes_through_every_joint():
    joints = curl()
    line = smooth_line(joints)
    assert np.allclose(line[:: (len(line) - 1) // 20], joints, atol=1e-12)


def test_the_outline_lies_half_a_width_around_the_smooth_line():
    joints = curl()
    line = smooth_line(joints)
    outline = arm_outline(joints, 1.0)
    away = np.hypot(*(outline[:, None] - line[None]).transpose(2, 0, 1)).min(axis=1)
    assert away.max() <= BASE_HALF_WIDTH + 1e-9
    assert away.max() == pytest.approx(BASE_HALF_WIDTH, rel=0.03)


def test_an_arm_tapers_and_a_tiny_one_is_thin():
    widths = half_widths(10, limb_scale(curl(), 1.0))
    assert (np.diff(widths) < 0.0).all()
    tiny = half_widths(10, limb_scale(curl() / 1000.0, 1.0))
    assert tiny[0] == pytest.approx(BASE_HALF_WIDTH / STOUTEST * 0.36)


def test_the_view_holds_arms_paths_and_near_objects_but_not_far_ones():
    scene = {**PIXELS, "obstacles": [*PIXELS["obstacles"], {"position": [9000, 0]}]}
    recording = record(scene, 1.0)
    x_low, x_high, y_low, y_high = view_limits(recording, (recording.first, recording.last))
    inside = [*recording.last.joints, *recording.first.joints, recording.tip_path(1)]
    for points in inside:
        assert (points > (x_low, y_low)).all()
        assert (points < (x_high, y_high)).all()
    assert x_low < -162.0
    assert x_high < 1000.0


def test_a_scene_without_arms_and_objects_still_has_a_view():
    recording = record({**QUIET, "arms": []}, 0.1)
    x_low, x_high, y_low, y_high = view_limits(recording, (recording.last,))
    assert x_low < x_high
    assert y_low < y_high


# ---------------------------------------------------------------- colours


def machado(deficiency: str) -> np.ndarray:
    """Give how a colour looks without one kind of cone (Machado, Oliveira, Fernandes 2009)."""
    return np.array(
        {
            "protan": [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
            "deutan": [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
            "none": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        }[deficiency]
    )


@pytest.mark.parametrize("deficiency", ["none", "protan", "deutan"])
def test_neighbouring_arms_and_food_stay_apart_for_all_eyes(deficiency):
    def seen(colour: str) -> np.ndarray:
        linear = np.array(to_rgb(colour)) ** 2.2
        return np.clip(machado(deficiency) @ linear, 0.0, 1.0) ** (1 / 2.2)

    arms = [seen(palette.arm_colour(number)) for number in range(1, 9)]
    for index, colour in enumerate(arms):
        assert np.linalg.norm(colour - arms[(index + 1) % 8]) > 0.3
        assert np.linalg.norm(colour - seen(palette.FOOD)) > 0.25


def test_the_ninth_arm_has_the_colour_of_the_first():
    assert palette.arm_colour(9) == palette.arm_colour(1)
    assert len({palette.arm_colour(number) for number in range(1, 9)}) == 8


def test_a_mixture_lies_between_its_colours():
    assert palette.mixed("#000000", "#ffffff", 0.5) == "#808080"
    assert palette.mixed("#123456", "#ffffff", 0.0) == "#123456"


# ---------------------------------------------------------------- the picture


def test_objects_are_drawn_where_they_are_and_as_large(pixels, drawn):
    axes = drawn(pixels).axes[0]
    circles = {
        (tuple(patch.center), patch.radius) for patch in axes.patches if isinstance(patch, Circle)
    }
    for thing in (*pixels.last.objects, *pixels.displaced):
        assert (thing.position, thing.radius) in circles


def test_a_held_object_wears_a_ring_in_the_colour_of_its_arm(pixels, drawn):
    axes = drawn(pixels).axes[0]
    held = next(thing for thing in pixels.last.objects if thing.number in pixels.last.owners)
    rings = [
        patch.get_edgecolor()[:3]
        for patch in axes.patches
        if isinstance(patch, Circle) and tuple(patch.center) == held.position
    ]
    assert to_rgb(palette.arm_colour(1)) in rings


@pytest.mark.parametrize(("scene", "unit", "down"), [(PIXELS, "px", True), (QUIET, "m", False)])
def test_axes_have_their_unit_equal_scales_and_y_as_in_the_scene(scene, unit, down, drawn):
    figure = drawn(record(scene, 0.2))
    figure.canvas.draw()
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == (f"x [{unit}]", f"y [{unit}]")
    assert bool(axes.yaxis_inverted()) is down
    box = axes.get_window_extent()
    x_low, x_high = axes.get_xlim()
    y_low, y_high = axes.get_ylim()
    assert box.width / (x_high - x_low) == pytest.approx(box.height / abs(y_high - y_low))


def test_the_title_says_what_and_when_letter_by_letter(pixels, drawn):
    axes = drawn(pixels).axes[0]
    assert axes.get_title(loc="left") == r"A title with \$ and _, after 2.0 s"


def test_the_key_lists_every_sign_of_the_picture_and_no_other(pixels, quiet):
    assert [meaning for _, meaning in key_entries(pixels)] == [
        "arm, with its number",
        "starting pose",
        "path of the tip",
        "target of an arm",
        "former target",
        "food, with its number",
        "food held by an arm",
        "path of carried food",
        "initial position",
        "obstacle",
        "hazard",
    ]
    assert [meaning for _, meaning in key_entries(quiet)] == ["arm, with its number"]
    assert moving_entries(quiet) == []


def test_the_panel_names_every_arm_with_what_it_does(pixels, drawn):
    shown = [text.get_text() for text in texts(drawn(pixels))]
    for number, state in zip(pixels.numbers, pixels.last.states, strict=True):
        assert str(number) in shown
        assert state in shown


@pytest.mark.parametrize("scene", ["first_reach", "grasp_and_carry", "detour"])
def test_no_label_overlaps_another_or_leaves_the_page_and_the_key_hides_no_arm(scene, drawn):
    figure = drawn(record(scene, 3.0))
    shown = texts(figure)
    scene_axes, panel = figure.axes
    boxes = [(text, text.get_window_extent()) for text in shown]
    for text, box in boxes:
        assert box.x0 >= 0.0
        assert box.y0 >= 0.0
        assert box.x1 <= figure.bbox.x1, text
        assert box.y1 <= figure.bbox.y1, text
        if text.axes is panel:
            assert not box.overlaps(scene_axes.get_window_extent()), text
    for index, (text, box) in enumerate(boxes):
        for other, other_box in boxes[index + 1 :]:
            assert not box.overlaps(other_box), (text, other)


def test_the_panel_of_eight_arms_fits_the_page(drawn):
    if not COMPILED:
        pytest.skip("minutes without numba")
    figure = drawn(record("reef", 6.0))
    panel = figure.axes[1]
    boxes = [text.get_window_extent() for text in texts(figure) if text.axes is panel]
    assert len(boxes) == 11 + 2 * 8
    assert all(box.y0 >= 0.0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert not any(
        box.overlaps(other) for index, box in enumerate(boxes) for other in boxes[index + 1 :]
    )


def test_a_picture_is_large_enough_to_read_and_white_around(pixels, tmp_path):
    path = tmp_path / "picture.png"
    save_picture(pixels, path, "Pixels")
    with Image.open(path) as image:
        assert image.format == "PNG"
        assert 1000 <= max(image.size) <= 1600
        assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
        colours = {colour for _, colour in image.convert("RGB").getcolors(2**24)}
    for wanted in (palette.arm_colour(1), palette.FOOD, palette.OBSTACLE):
        assert tuple(round(255 * part) for part in to_rgb(wanted)) in colours


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_run_is_the_same_file_whatever_the_user_has_set(suffix, pixels, tmp_path):
    first, second = (tmp_path / f"{name}{suffix}" for name in ("first", "second"))
    save_picture(pixels, first, "Pixels")
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30, "savefig.dpi": 10}):
        save_picture(pixels, second, "Pixels")
        assert matplotlib.rcParams["font.size"] == 30
    assert first.stat().st_size > 10_000
    assert first.read_bytes() == second.read_bytes()


def test_nothing_recorded_cannot_be_drawn(tmp_path):
    with pytest.raises(ValueError, match="nothing to draw"):
        draw_picture(Recording(), "empty")
    with pytest.raises(ValueError, match="nothing to animate"):
        save_animation(record(QUIET, 0.1), tmp_path / "a.gif", "empty")


def test_a_folder_that_is_gone_is_an_os_error(pixels, tmp_path):
    with pytest.raises(OSError):
        save_picture(pixels, tmp_path / "gone" / "a.png", "Pixels")


# ---------------------------------------------------------------- the animation


def frames_of(content: bytes) -> list[np.ndarray]:
    frames = []
    with Image.open(io.BytesIO(content)) as image:
        assert image.info["loop"] == 0
        for number in range(image.n_frames):
            image.seek(number)
            frames.append(np.asarray(image.convert("RGB")).astype(int))
    return frames


def durations_of(content: bytes) -> list[int]:
    with Image.open(io.BytesIO(content)) as image:
        durations = []
        for number in range(image.n_frames):
            image.seek(number)
            durations.append(image.info["duration"])
        return durations


def test_an_animation_plays_in_real_time_and_shows_the_arm_move(pixels, tmp_path):
    path = tmp_path / "run.gif"
    done = []
    save_animation(pixels, path, "Pixels", done.append)
    content = path.read_bytes()
    # Equal frames may be one that lasts longer; together they last as long as the run.
    assert sum(durations_of(content)) == 51 * 40
    assert done == list(range(1, 52))
    frames = frames_of(content)
    arm = np.array(to_rgb(palette.arm_colour(1))) * 255
    places = [(np.abs(frame - arm).max(axis=2) <= 3) for frame in (frames[0], frames[-1])]
    assert all(place.sum() > 300 for place in places)
    assert (places[0] != places[1]).sum() > 300
    assert (frames[0][1, 1] == 255).all()


def test_the_same_run_is_the_same_animation(quiet, tmp_path):
    first, second = tmp_path / "first.gif", tmp_path / "second.gif"
    for path in (first, second):
        save_animation(quiet, path, "Quiet")
    assert first.read_bytes() == second.read_bytes()


def test_objects_come_and_go_in_an_animation(tmp_path):
    scene = {
        **QUIET,
        "events": [
            {"tick": 20, "add": {"kind": "obstacle", "position": [0.2, 0.2], "radius": 0.03}},
            {"tick": 60, "remove": 1},
        ],
    }
    path = tmp_path / "run.gif"
    save_animation(record(scene, 0.8, FRAME_RATE), path, "Visitor")
    grey = np.array(to_rgb(palette.OBSTACLE)) * 255
    frames = frames_of(path.read_bytes())
    seen = [int((np.abs(frame - grey).max(axis=2) <= 3).sum()) for frame in frames]
    assert seen[0] == seen[-1] < seen[len(seen) // 2] - 500


@pytest.mark.skipif(not COMPILED, reason="minutes without numba")
def test_eight_seconds_of_the_reef_are_less_than_four_megabytes(tmp_path):
    path = tmp_path / "reef.gif"
    save_animation(record("reef", 8.0, FRAME_RATE), path, "Reef")
    assert path.stat().st_size < 4_000_000
    with Image.open(path) as image:
        assert 600 <= image.width <= 800


# ---------------------------------------------------------------- the command


def test_simulate_draws_both(tmp_path, capsys):
    picture, animation = tmp_path / "a.svg", tmp_path / "a.gif"
    arguments = ["simulate", "first_reach", "--seconds", "0.4"]
    outputs = ["--picture", str(picture), "--animation", str(animation)]
    assert main([*arguments, *outputs]) == 0
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    assert animation.read_bytes()[:6] == b"GIF89a"
    assert re.search(r"^48 steps", capsys.readouterr().out, re.MULTILINE)


def test_kinds_of_objects_differ_by_more_than_colour():
    from octo_reach.pictures.drawing import object_style

    styles = {kind: object_style(kind) for kind in ObjectKind}
    assert styles[ObjectKind.HAZARD]["hatch"]
    assert len({style["facecolor"] for style in styles.values()}) == 3
