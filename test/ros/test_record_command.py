"""`octo-reach record` over real topics, and the files it leaves."""

from __future__ import annotations

import itertools
import os
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("mcap", reason="mcap is not installed (pip install '.[record]')")
pytest.importorskip("mcap_ros2", reason="mcap-ros2-support is not installed")

from harness import NodeProcess
from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from rcl_interfaces.srv import ListParameters
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from octo_reach.cli import main
from octo_reach.nodes.recorder import is_wanted, profile_for
from octo_reach.ros.quality_of_service import LATCHED, STREAM

COMMAND = [sys.executable, "-m", "octo_reach.cli", "record"]
HASTY = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "out.mcap"


@pytest.fixture
def record(ros_context, namespace, tmp_path, path):
    """Starts a recording of the test's namespace, and sees to it that it ends."""
    started = []

    def begin(*arguments: str, program=tuple(COMMAND)) -> NodeProcess:
        words = [*program, str(path), "--namespace", namespace, *arguments]
        process = NodeProcess("record", words, tmp_path)
        started.append(process)
        process.wait_for_line("recording ROS domain")
        return process

    try:
        yield begin
    finally:
        for process in started:
            if process.running:
                process.kill()


def written_so_far(path: Path, namespace: str) -> list[tuple[str, bytes]]:
    """Give (topic, message) of what is in a file that is still being written."""
    channels: dict[int, str] = {}
    found = []
    with open(path, "rb") as stream:
        try:
            for entry in StreamReader(stream, emit_chunks=False).records:
                if type(entry).__name__ == "Channel":
                    channels[entry.id] = entry.topic.removeprefix(f"{namespace}/")
                elif type(entry).__name__ == "Message":
                    found.append((channels[entry.channel_id], entry.data))
        except McapError:
            pass  # as far as it has come
    return found


def texts_so_far(path: Path, namespace: str) -> list[tuple[str, str]]:
    written = written_so_far(path, namespace)
    return [(topic, deserialize_message(data, String).data) for topic, data in written]


def speak(probe, topic: str, name: str, quality: QoSProfile) -> None:
    """Say "name 0", "name 1" ... on a topic while the probe is spun."""
    publisher = probe.publisher(String, topic, quality)
    numbers = itertools.count()
    probe.node.create_timer(0.02, lambda: publisher.publish(String(data=f"{name} {next(numbers)}")))


def contents(path: Path):
    with open(path, "rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        return reader.get_header(), reader.get_summary(), [*reader.iter_decoded_messages()]


# ---------------------------------------------------------------- what is recorded


def test_a_recording_has_what_was_kept_what_is_said_and_what_comes_later(
    record, probe, path, namespace
):
    probe.send("kept", String(data="before"), qos=LATCHED, listeners=0)
    probe.send("_hidden/inner", String(data="hidden"), qos=LATCHED, listeners=0)
    process = record("--topics", "*")
    probe.send("late", String(data="one"), String(data="two"))
    speak(probe, "hasty", "word", HASTY)
    wanted = {("kept", "before"), ("late", "one"), ("late", "two")}
    probe.wait_until(
        lambda: (
            wanted <= set(texts_so_far(path, namespace))
            and "hasty" in {topic for topic, _ in texts_so_far(path, namespace)}
        ),
        "all topics in the file",
        report=lambda: str(texts_so_far(path, namespace)),
    )
    assert process.stop(signal.SIGINT) == 0

    header, summary, messages = contents(path)
    assert header.profile == "ros2"
    topics = {
        channel.topic.removeprefix(f"{namespace}/"): channel
        for channel in summary.channels.values()
    }
    assert topics.keys() == {"kept", "late", "hasty"}
    profiles = {name: topics[name].metadata["offered_qos_profiles"] for name in topics}
    assert "durability: transient_local" in profiles["kept"]
    assert "reliability: best_effort" in profiles["hasty"]
    assert "durability: volatile" in profiles["late"]
    for channel in topics.values():
        assert channel.message_encoding == "cdr"
        assert re.fullmatch("RIHS01_[0-9a-f]{64}", channel.metadata["topic_type_hash"])
    said = {
        (channel.topic.removeprefix(f"{namespace}/"), text.data): message
        for _, channel, message, text in messages
    }
    assert len(said) == len(messages)
    assert wanted <= said.keys()
    assert all(0 < message.publish_time <= message.log_time for message in said.values())
    # It was said before anybody recorded, and the time of that is kept.
    assert said["kept", "before"].publish_time < min(m.log_time for m in said.values())
    assert re.search(rf"{namespace}/late +std_msgs/msg/String +2", process.output)
    assert re.search(r"messages in [\d.]+ s: .*out\.mcap", process.output)


def test_whoever_lists_the_parameters_of_all_nodes_gets_its_answer(record, probe):
    record()
    answer = probe.call(ListParameters, "octo_reach_record/list_parameters")
    assert "use_sim_time" in answer.result.names


def test_publishers_of_other_qualities_that_join_are_heard_and_nothing_counts_twice(
    record, probe, path, namespace
):
    process = record("--topics", "mix*")
    speakers = ["kept", "volatile", "hasty"]
    for count, (name, quality) in enumerate(zip(speakers, (LATCHED, STREAM, HASTY), strict=True)):
        speak(probe, "mixed", name, quality)
        before = len(texts_so_far(path, namespace))

        def heard(before=before) -> set[str]:
            return {text.split()[0] for _, text in texts_so_far(path, namespace)[before:]}

        # The newest, and those before it still.
        probe.wait_until(lambda: set(speakers[: count + 1]) <= heard(), f"{name} and its fellows")  # noqa: B023
    assert process.stop(signal.SIGTERM) == 0
    said = [text.data for _, _, _, text in contents(path)[2]]
    assert len(set(said)) == len(said) > 3


def test_a_running_controller_is_recorded_and_can_be_read_without_ros(record, stage, path, probe):
    stage.controller(stage.write_scene((1, 2), target=(0.1, 0.1)))
    process = record()
    steady = {"joint_states", "arm_1/tip", "arm_2/tip", "contacts", "markers"}
    once = {"robot_description", "grasps"}  # and before anybody recorded

    def counts() -> Counter[str]:
        return Counter(topic for topic, _ in written_so_far(path, stage.start.namespace))

    def complete() -> bool:
        found = counts()
        return once | {"arm_states"} <= found.keys() and all(found[topic] > 1 for topic in steady)

    probe.wait_until(complete, "every topic in the file", report=lambda: str(counts()))
    assert process.stop(signal.SIGINT) == 0
    _, summary, messages = contents(path)
    assert summary.statistics.message_count == len(messages)
    assert {counts()[topic] for topic in once} == {1}


@pytest.mark.parametrize(
    ("name", "namespace", "patterns", "wanted"),
    [
        ("/joint_states", "/", (), True),
        ("/left/joint_states", "/left", (), True),
        ("/leftover/joint_states", "/left", (), False),
        ("/joint_states", "/left", (), False),
        ("/tf_static", "/left", (), True),
        ("/parameter_events", "/left", (), False),
        ("/parameter_events", "/", (), True),
        ("/reach/_action/status", "/", (), False),
        ("/reach/_action/status", "/", ("*",), False),
        ("/arm_1/tip", "/", ("arm_*/tip",), True),
        ("/left/arm_1/tip", "/left", ("arm_?/tip", "x"), True),
        ("/left/arm_1/tip", "/left", ("/arm_?/tip",), False),
        ("/tf", "/left", ("joint_states",), False),
        ("/tf", "/left", ("/tf",), True),
    ],
)
def test_what_is_recorded_when_nobody_says_and_when_somebody_does(
    name, namespace, patterns, wanted
):
    assert is_wanted(name, namespace, patterns) is wanted


@pytest.mark.parametrize(
    ("offered", "reliable", "kept"),
    [
        ([STREAM], True, False),
        ([LATCHED], True, True),
        ([LATCHED, STREAM], True, False),
        ([HASTY, LATCHED], False, False),
    ],
)
def test_a_reader_asks_for_no_more_than_every_publisher_offers(offered, reliable, kept):
    profile = profile_for(offered)
    assert (profile.reliability is ReliabilityPolicy.RELIABLE) is reliable
    assert (profile.durability is DurabilityPolicy.TRANSIENT_LOCAL) is kept


# ---------------------------------------------------------------- what goes wrong


def test_a_disk_that_fills_up_is_one_line_and_ends_it(record, probe, path, namespace):
    # Of 512 or 1024 bytes each, as the shell counts.
    process = record(
        "--topics", "big", program=("sh", "-c", 'ulimit -f 8; exec "$@"', "", *COMMAND)
    )
    text = os.urandom(20_000).hex()
    probe.send("big", String(data=text))
    assert process.wait() == 2
    *_, line = process.output.splitlines()
    assert line == f"octo-reach: {path}: File too large"
    assert "Traceback" not in process.output


def test_a_file_that_is_removed_meanwhile_is_one_line(record, probe, path, namespace):
    process = record("--topics", "words")
    probe.send("words", String(data="gone"))
    probe.wait_until(lambda: texts_so_far(path, namespace), "the message in the file")
    path.unlink()
    assert process.stop(signal.SIGINT) == 2
    assert process.output.splitlines()[1:] == [
        f"octo-reach: {path} was removed while it was recorded"
    ]


def refusal(arguments: list[str], capsys) -> str:
    assert main(["record", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    return line


def test_what_cannot_be_done_is_said_in_one_line(tmp_path, path, capsys):
    assert "ends in .mcap, got out.bag" in refusal(["out.bag"], capsys)
    missing = tmp_path / "no_folder" / "out.mcap"
    assert refusal([str(missing)], capsys) == f"octo-reach: {missing} cannot be written"
    for seconds in ("0", "-1", "nan", "x"):
        line = refusal([str(path), f"--seconds={seconds}"], capsys)
        assert line == f"octo-reach: --seconds must be a number above 0, got {seconds!r}"
    assert "--namespace: a namespace must" in refusal([str(path), "--namespace", "1 x"], capsys)
    assert not path.exists()
    path.write_bytes(b"dear to somebody")
    assert refusal([str(path)], capsys).startswith(f"octo-reach: {path} exists already")
    assert path.read_bytes() == b"dear to somebody"


def test_without_the_extra_it_is_named(path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcap", None)
    line = refusal([str(path)], capsys)
    assert "octo-reach record needs mcap" in line
    assert "pip install '.[record]'" in line


def test_the_time_to_record_counts_from_the_first_message_on(record, probe, path):
    process = record("--seconds", "3", "--topics", "late")
    publisher = probe.publisher(String, "late", LATCHED)
    begun = time.monotonic()
    # A third of the time is over before there is anything to hear.
    probe.wait_until(lambda: time.monotonic() > begun + 1.0, "a second has passed")
    probe.node.create_timer(0.02, lambda: publisher.publish(String(data="word")))
    probe.wait_until(lambda: not process.running, "the recording is over")
    _, summary, _ = contents(path)
    times = summary.statistics.message_start_time, summary.statistics.message_end_time
    assert (times[1] - times[0]) / 1e9 > 2.5


def test_where_nothing_is_heard_it_says_so_and_leaves_no_file(ros_context, namespace, path, capfd):
    arguments = [str(path), "--seconds", "0.5", "--namespace", namespace, "--topics", "nothing"]
    assert main(["record", *arguments]) == 1
    output = capfd.readouterr()
    assert output.out == ""
    assert output.err.splitlines()[-1].startswith("octo-reach: nothing was heard; is octo-reach")
    assert not path.exists()


def test_a_type_that_is_not_installed_is_named_once(probe, namespace, path, monkeypatch, capfd):
    def refuse(name: str):
        raise LookupError(f"{name} is not installed here")

    monkeypatch.setattr("octo_reach.nodes.recorder.message_class", refuse)
    probe.send("strange", String(data="x"), qos=LATCHED, listeners=0)
    arguments = [str(path), "--seconds", "1.5", "--namespace", namespace, "--topics", "strange"]
    assert main(["record", *arguments]) == 1
    reason = "std_msgs/msg/String is not installed here"
    line = f"octo-reach: {namespace}/strange is not recorded: {reason}"
    assert capfd.readouterr().err.splitlines().count(line) == 1
