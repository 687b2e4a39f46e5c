"""octo-reach simulate --bag: a headless run as a recording."""

from __future__ import annotations

import signal
import sys

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("mcap", reason="mcap is not installed (pip install '.[record]')")
pytest.importorskip("mcap_ros2", reason="mcap-ros2-support is not installed")

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from octo_reach.cli import main
from octo_reach.recordings.mcap_file import McapFile
from octo_reach.recordings.run_recording import RunRecording
from octo_reach.scenes import load_scene, to_metres
from octo_reach.scenes.running import run_scene

pytestmark = pytest.mark.ros

SCENE = """\
version: 1
name: Two arms
layout: listed
body: [0, 0]
food: [{position: [60, 0], radius: 20}]
arms:
  - {number: 3, base: [0, 0], heading_degrees: 0, target: {position: [60, 0]}}
  - {number: 5, base: [500, 500], heading_degrees: 90}
events:
  - {tick: 40, arm: 5, reach: [600, 600]}
  - {tick: 80, arm: 5, action: reset}
"""
TICKS = 120
LATCHED = {"/arm_states", "/grasps", "/objects", "/robot_description", "/tf_static"}
EVERY_STEP = {
    *("/arm_3/tip", "/arm_3/tip_error", "/arm_5/tip", "/arm_5/tip_error"),
    *("/contacts", "/joint_states"),
}


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("scene") / "scene.yaml"
    path.write_text(SCENE, encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def bag(scene, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("bag") / "run.mcap"
    assert main(["simulate", scene, "--ticks", str(TICKS), "--bag", str(path)]) == 0
    return str(path)


@pytest.fixture(scope="module")
def summary(bag):
    with open(bag, "rb") as stream:
        return make_reader(stream, validate_crcs=True).get_summary()


@pytest.fixture(scope="module")
def told(bag) -> dict:
    """What every topic says, (time in ns, message) each."""
    found: dict = {}
    with open(bag, "rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages():
            assert message.publish_time == message.log_time
            found.setdefault(channel.topic, []).append((message.log_time, decoded))
    return found


def refusal(arguments: list[str], capsys) -> str:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    *_, line = output.err.splitlines()
    return line


def nanoseconds(stamp) -> int:
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def test_the_same_run_gives_the_same_bytes(scene, bag, tmp_path):
    again = tmp_path / "again.mcap"
    assert main(["simulate", scene, "--ticks", str(TICKS), "--bag", str(again)]) == 0
    with open(bag, "rb") as stream:
        assert again.read_bytes() == stream.read()


def test_it_tells_what_the_nodes_would(summary):
    topics = {channel.topic: channel for channel in summary.channels.values()}
    assert set(topics) == LATCHED | EVERY_STEP | {"/markers", "/tf"}
    for name, channel in topics.items():
        kept = "durability: transient_local" in channel.metadata["offered_qos_profiles"]
        assert kept == (name in LATCHED), name
    counts = {
        topic: summary.statistics.channel_message_counts[channel.id]
        for topic, channel in topics.items()
    }
    assert {counts[topic] for topic in EVERY_STEP} == {TICKS + 1}
    assert counts["/tf"] == counts["/markers"] == TICKS // 4 + 1
    assert counts["/robot_description"] == counts["/tf_static"] == 1


def test_its_time_is_that_of_the_run(told):
    for place, (time, message) in enumerate(told["/joint_states"]):
        assert time == round(place * 1e9 / 120.0) == nanoseconds(message.header.stamp)
    for time, message in told["/tf"]:
        assert {nanoseconds(one.header.stamp) for one in message.transforms} == {time}
    assert all(time == 0 for time, _ in told["/robot_description"])


def test_a_scene_in_pixels_is_told_in_metres_to_the_last_digit(scene, told):
    run = run_scene(to_metres(load_scene(scene)), TICKS)
    topics = ("/joint_states", "/arm_3/tip", "/arm_3/tip_error")
    for octopus, (_, joints), (_, tip), (_, error) in zip(
        run, *(told[topic] for topic in topics), strict=True
    ):
        angles = [angle for arm in octopus.arms for angle in arm.angles.tolist()]
        assert list(joints.position) == angles
        assert [tip.point.x, tip.point.y] == octopus.arm(3).tip.tolist()
        assert error.data == octopus.arm(3).tip_error


def test_the_summary_and_the_trace_stay_in_pixels(scene, bag, tmp_path, capsys):
    alone, beside = tmp_path / "alone", tmp_path / "beside"
    assert main(["simulate", scene, "--ticks", "60", "--trace", str(alone)]) == 0
    arguments = ["--ticks", "60", "--trace", str(beside), "--bag", str(tmp_path / "b.mcap")]
    assert main(["simulate", scene, *arguments]) == 0
    assert alone.read_bytes() == beside.read_bytes()
    assert "[px]" in capsys.readouterr().out


def test_a_reset_is_no_motion(told):
    speeds = {
        place: max(abs(speed) for speed in message.velocity)
        for place, (_, message) in enumerate(told["/joint_states"])
    }
    assert speeds[79] > 0.0
    assert speeds[80] == 0.0
    # Fast as arms are, the jump would be faster.
    assert max(speeds.values()) < 4.0


def test_every_change_of_an_arm_is_told_when_it_happens(told):
    states = [
        (round(time * 120.0 / 1e9), {status.name: status.message for status in message.status})
        for time, message in told["/arm_states"]
    ]
    assert (states[0][0], states[0][1]["arm_5"]) == (0, "Idle")
    assert next(tick for tick, state in states if state["arm_5"] == "Reaching") == 40
    held = next(tick for tick, state in states if state["arm_3"] == "Holding")
    claims = [(time, message.markers) for time, message in told["/grasps"]]
    assert [marker.action for marker in claims[0][1]] == [3, 3]
    assert round(claims[1][0] * 120.0 / 1e9) == held
    assert claims[1][1][0].header.frame_id.startswith("arm_3/segment_")


def test_a_name_that_is_no_recordings_is_refused(scene, tmp_path, capsys):
    line = refusal(["simulate", scene, "--bag", str(tmp_path / "run.db3")], capsys)
    assert "--bag must be a file name that ends in .mcap" in line
    missing = tmp_path / "no_folder" / "run.mcap"
    assert refusal(["simulate", scene, "--bag", str(missing)], capsys) == (
        f"octo-reach: --bag: {missing} cannot be written"
    )


@pytest.mark.parametrize("ticks", ["0", "3000"])
def test_a_full_disk_is_one_line(scene, ticks, tmp_path, capsys):
    path = tmp_path / "full.mcap"
    path.symlink_to("/dev/full")
    line = refusal(["simulate", scene, "--ticks", ticks, "--bag", str(path)], capsys)
    assert line == f"octo-reach: --bag: {path}: No space left on device"


def full_at_a_message(monkeypatch):
    write = McapFile.write

    def write_or_fail(self, *arguments):
        if self.messages == 100:
            raise OSError(28, "No space left on device")
        write(self, *arguments)

    monkeypatch.setattr(McapFile, "write", write_or_fail)


def full_at_the_end(monkeypatch):
    close = McapFile.close

    def close_and_fail(self):
        close(self)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(McapFile, "close", close_and_fail)


@pytest.mark.parametrize("fill", [full_at_a_message, full_at_the_end])
@pytest.mark.parametrize("before", [None, b"dear to somebody"])
def test_a_disk_that_fills_up_leaves_the_file_that_was_there_and_no_other(
    fill, before, scene, tmp_path, monkeypatch, capsys
):
    path = tmp_path / "run.mcap"
    if before is not None:
        path.write_bytes(before)
    fill(monkeypatch)
    line = refusal(["simulate", scene, "--ticks", "60", "--bag", str(path)], capsys)
    assert line == f"octo-reach: --bag: {path}: No space left on device"
    left = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert left == ({} if before is None else {"run.mcap": before})


def test_a_link_to_a_recording_stays_one(scene, tmp_path):
    path, whole = tmp_path / "run.mcap", tmp_path / "whole.mcap"
    path.symlink_to(whole)
    assert main(["simulate", scene, "--ticks", "1", "--bag", str(path)]) == 0
    assert path.is_symlink()
    assert whole.stat().st_size > 0
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_what_there_is_of_it(number, scene, tmp_path, monkeypatch):
    record = RunRecording.record

    def record_or_interrupt(self, octopus):
        if octopus.ticks == 50:
            signal.raise_signal(number)
        record(self, octopus)

    def handler(number, frame):
        raise AssertionError("nobody listens to SIGTERM")

    monkeypatch.setattr(RunRecording, "record", record_or_interrupt)
    path = tmp_path / "run.mcap"
    before = signal.signal(signal.SIGTERM, handler)
    try:
        assert main(["simulate", scene, "--bag", str(path)]) == 130
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)
    assert list(tmp_path.iterdir()) == [path]
    with open(path, "rb") as stream:
        summary = make_reader(stream, validate_crcs=True).get_summary()
    assert summary.statistics.message_end_time == round(49e9 / 120.0)


@pytest.mark.parametrize(("module", "extra"), [("rclpy", "ros"), ("mcap", "record")])
def test_without_an_extra_it_is_named(scene, module, extra, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / "run.mcap"
    line = refusal(["simulate", scene, "--bag", str(path)], capsys)
    assert line.startswith("octo-reach: --bag ")
    assert f"pip install '.[{extra}]'" in line
    assert not path.exists()
