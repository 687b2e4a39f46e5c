"""What recordings are made of: definitions, encoding, transforms, files."""

from __future__ import annotations

import importlib
import math
import os
import random
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("mcap", reason="mcap is not installed (pip install '.[record]')")
pytest.importorskip("mcap_ros2", reason="mcap-ros2-support is not installed")

from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.records import Schema
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from rclpy.duration import Duration
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.serialization import deserialize_message, serialize_message
from ros_messages import RULES, make_grasping_octopus, make_octopus
from std_msgs.msg import Header, String
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.recordings.mcap_file import McapFile
from octo_reach.ros.definitions import (
    FieldType,
    field_types,
    message_class,
    message_definition,
    type_name,
)
from octo_reach.ros.description import robot_description
from octo_reach.ros.encoding import encode_message
from octo_reach.ros.frames import parse_tip_frame
from octo_reach.ros.offered_profiles import offered_profiles
from octo_reach.ros.plain_messages import stamp
from octo_reach.ros.quality_of_service import LATCHED
from octo_reach.ros.transforms import JointTransforms, TransformMessage, fixed_transforms

pytestmark = pytest.mark.ros

PACKAGES = (
    "builtin_interfaces",
    "diagnostic_msgs",
    "geometry_msgs",
    "nav_msgs",
    "rcl_interfaces",
    "rosgraph_msgs",
    "sensor_msgs",
    "std_msgs",
    "trajectory_msgs",
    "visualization_msgs",
)


def all_messages():
    for package in PACKAGES:
        module = importlib.import_module(f"{package}.msg")
        for name in sorted(vars(module)):
            kind = getattr(module, name)
            if hasattr(kind, "get_fields_and_field_types") and field_types(kind):
                yield kind


MESSAGES = list(all_messages())
SIZES = {"int8": 7, "uint8": 8, "char": 8, "int16": 15, "uint16": 16, "int32": 31, "uint32": 32}
SIZES |= {"int64": 63, "uint64": 64}


def random_value(base, chance):
    if "/" in base:
        return random_message(message_class(base), chance)
    if base == "boolean":
        return chance.random() < 0.5
    if base == "octet":
        return bytes([chance.randrange(256)])
    if base == "float":
        return float(np.float32(chance.uniform(-1e3, 1e3)))
    if base == "double":
        return chance.uniform(-1e3, 1e3)
    if base.startswith(("string", "wstring")):
        return "".join(chance.choices("abcµ/ ", k=chance.randrange(9)))
    low = -(2 ** SIZES[base]) if base.startswith("i") else 0
    return chance.randrange(low, 2 ** SIZES[base])


def random_message(kind, chance):
    message = kind()
    for name, field in field_types(kind).items():
        if field.sequence:
            count = chance.randrange(4 if field.most is None else min(4, field.most + 1))
            value = [random_value(field.base, chance) for _ in range(count)]
        elif field.count is not None:
            value = [random_value(field.base, chance) for _ in range(field.count)]
        else:
            value = random_value(field.base, chance)
        setattr(message, name, value)
    return message


def texts_are_plain(kind):
    return all(
        not field.base.startswith("wstring")
        and (not field.nested or texts_are_plain(message_class(field.base)))
        for field in field_types(kind).values()
    )


def test_there_are_messages_to_try():
    assert len(MESSAGES) > 100
    assert {Marker, MarkerArray, Header} <= set(MESSAGES)


# ---------------------------------------------------------------- encoding


@pytest.mark.parametrize("package", PACKAGES)
def test_the_middleware_reads_every_message_as_it_was(package):
    chance = random.Random(package)
    for kind in MESSAGES:
        if kind.__module__.split(".")[0] != package or not texts_are_plain(kind):
            continue
        for _ in range(8):
            message = random_message(kind, chance)
            assert deserialize_message(encode_message(message), kind) == message


def test_the_same_message_gives_the_same_bytes_whatever_memory_held_before():
    octopus = make_octopus()
    message = JointTransforms().fill(octopus, stamp(0))
    first = encode_message(message)
    filled = [os.urandom(len(first)) for _ in range(20)]
    del filled[::2]
    assert encode_message(JointTransforms().fill(octopus, stamp(0))) == first


def test_between_the_fields_there_are_zeros():
    message = Header(frame_id="ab")
    # seconds, nanoseconds, length of the text with its end, the text
    assert encode_message(message) == b"\0\1\0\0" + bytes(8) + b"\3\0\0\0ab\0"
    two = MarkerArray(markers=[Marker(ns="a"), Marker()])
    assert encode_message(two).count(b"a") == 1


# ---------------------------------------------------------------- definitions


def leaves(value):
    """Yield every number and text of a sent or a decoded message, whatever class it has."""
    if isinstance(value, (bool, int, float, str)):
        yield value
        return
    if hasattr(value, "get_fields_and_field_types"):
        value = [getattr(value, name) for name in value.get_fields_and_field_types()]
    elif hasattr(value, "__slots__"):
        value = [getattr(value, name) for name in value.__slots__]
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    for item in value:
        yield from leaves(item)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_definition_is_enough_to_read_what_the_middleware_wrote(package):
    chance = random.Random(package)
    for kind in MESSAGES:
        if kind.__module__.split(".")[0] != package or not texts_are_plain(kind):
            continue
        definition = message_definition(kind).encode()
        schema = Schema(id=1, name=type_name(kind), encoding="ros2msg", data=definition)
        decode = DecoderFactory().decoder_for("cdr", schema)
        message = random_message(kind, chance)
        decoded = decode(serialize_message(message))
        assert [*leaves(decoded)] == [*leaves(message)], kind


def test_a_definition_names_the_constants_with_a_type_of_the_fields():
    text = message_definition(MarkerArray)
    assert text.startswith("visualization_msgs/Marker[] markers\n====")
    assert "\nMSG: visualization_msgs/Marker\n" in text
    assert "\nint32 DELETEALL=3\n" in text
    # Every message in it once.
    assert text.count("MSG: geometry_msgs/Point\n") == 1
    cloud = message_definition(message_class("sensor_msgs/PointCloud2"))
    assert "\nuint8 FLOAT32=7\n" in cloud
    assert "\nbyte WARN=1\n" in message_definition(message_class("diagnostic_msgs/DiagnosticArray"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("double", FieldType("double")),
        ("sequence<std_msgs/Header>", FieldType("std_msgs/Header", sequence=True)),
        ("sequence<octet, 3>", FieldType("octet", sequence=True, most=3)),
        ("sequence<string<5>, 3>", FieldType("string<5>", sequence=True, most=3)),
        ("float[36]", FieldType("float", count=36)),
        ("string<7>", FieldType("string<7>")),
    ],
)
def test_every_type_of_a_field_is_understood(text, kind):
    class Sample:
        @staticmethod
        def get_fields_and_field_types():
            return {"it": text}

    assert field_types(Sample) == {"it": kind}


def test_a_class_is_found_by_both_names_and_what_is_missing_is_named():
    assert message_class("std_msgs/msg/Header") is message_class("std_msgs/Header") is Header
    assert type_name(Header) == "std_msgs/msg/Header"
    for name in ("std_msgs/msg/Nothing", "nowhere_msgs/msg/Header", "std_srvs/srv/Empty", "x"):
        with pytest.raises(LookupError, match=name):
            message_class(name)


# ---------------------------------------------------------------- qualities of service


def test_qualities_of_service_are_written_as_rosbag2_reads_them():
    assert offered_profiles([LATCHED]) == (
        "- history: keep_last\n"
        "  depth: 1\n"
        "  reliability: reliable\n"
        "  durability: transient_local\n"
        "  deadline:\n"
        "    sec: 9223372036\n"
        "    nsec: 854775807\n"
        "  lifespan:\n"
        "    sec: 9223372036\n"
        "    nsec: 854775807\n"
        "  liveliness: automatic\n"
        "  liveliness_lease_duration:\n"
        "    sec: 9223372036\n"
        "    nsec: 854775807\n"
        "  avoid_ros_namespace_conventions: false"
    )


def test_what_a_publisher_offers_beside_that_is_kept():
    profile = QoSProfile(
        history=HistoryPolicy.KEEP_ALL,
        reliability=ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.VOLATILE,
        liveliness=LivelinessPolicy.MANUAL_BY_TOPIC,
        deadline=Duration(seconds=2, nanoseconds=5),
    )
    text = offered_profiles([profile, LATCHED])
    assert text.count("- history") == 2
    for part in ("keep_all", "best_effort", "volatile", "manual_by_topic", "sec: 2\n    nsec: 5\n"):
        assert part in text


# ---------------------------------------------------------------- transforms


def pairs_of(message):
    return [(one.header.frame_id, one.child_frame_id) for one in message.transforms]


def poses_of(transforms):
    """Give (x, y, heading) of every frame in the world."""
    poses = {"world": (0.0, 0.0, 0.0)}
    for one in transforms:
        x, y, heading = poses[one.header.frame_id]
        move, turn = one.transform.translation, one.transform.rotation
        poses[one.child_frame_id] = (
            x + math.cos(heading) * move.x - math.sin(heading) * move.y,
            y + math.sin(heading) * move.x + math.cos(heading) * move.y,
            heading + 2.0 * math.atan2(turn.z, turn.w),
        )
    return poses


def test_the_transforms_lead_to_every_joint_of_every_arm():
    octopus = make_octopus((1, 4))
    for _ in range(120):
        octopus.step(1.0 / 120.0)
    moving = JointTransforms().fill(octopus, stamp(1_500_000_000))
    assert all(one.header.stamp == stamp(1_500_000_000) for one in moving.transforms)
    fixed = fixed_transforms([arm.placement for arm in octopus.arms])
    known = {"world"}
    ordered, waiting = [], [*fixed.transforms, *moving.transforms]
    while waiting:
        ready = [one for one in waiting if one.header.frame_id in known]
        assert ready
        known.update(one.child_frame_id for one in ready)
        ordered += ready
        waiting = [one for one in waiting if one not in ready]
    poses = poses_of(ordered)
    for arm in octopus.arms:
        for segment in range(1, 21):
            pose = poses[f"arm_{arm.number}/segment_{segment}"]
            np.testing.assert_allclose(pose[:2], arm.joints[segment], atol=1e-12)
        tips = [pose for frame, pose in poses.items() if parse_tip_frame(frame) == arm.number]
        np.testing.assert_allclose([pose[:2] for pose in tips], [arm.tip], atol=1e-12)


def test_they_are_those_of_the_robot_model():
    octopus = make_octopus((2, 3), segment_count=5)
    placements = [arm.placement for arm in octopus.arms]
    model = ElementTree.fromstring(robot_description(placements, RULES))
    wanted: dict[bool, set] = {True: set(), False: set()}
    for joint in model.findall("joint"):
        ends = joint.find("parent").get("link"), joint.find("child").get("link")
        wanted[joint.get("type") == "fixed"].add(ends)
    fixed = pairs_of(fixed_transforms(placements))
    moving = pairs_of(JointTransforms().fill(octopus, stamp(0)))
    assert (set(fixed), set(moving)) == (wanted[True], wanted[False])
    assert len(fixed) + len(moving) == len(model.findall("joint"))


def test_transforms_have_the_name_and_the_definition_of_tf2s_message():
    assert type_name(TransformMessage) == "tf2_msgs/msg/TFMessage"
    text = message_definition(TransformMessage)
    assert text.startswith("geometry_msgs/TransformStamped[] transforms\n===")


# ---------------------------------------------------------------- files


def write_texts(file, count=3, start=0):
    if "/say" not in file.topics:
        definition = message_definition(String)
        file.add_topic(
            "/say", type_name(String), definition, offered_profiles([LATCHED]), "RIHS01_"
        )
    for number in range(start, start + count):
        data = encode_message(String(data=f"text {number}"))
        file.write("/say", data, 100 + number, 50 + number, sequence=number)


def decoded(path):
    with open(path, "rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        return reader.get_header(), reader.get_summary(), [*reader.iter_decoded_messages()]


def test_a_closed_file_tells_all_that_was_written(tmp_path):
    path = tmp_path / "out.mcap"
    with McapFile(path) as file:
        write_texts(file)
        assert (file.messages, file.topics["/say"].messages) == (3, 3)
    header, summary, messages = decoded(path)
    assert header.profile == "ros2"
    (channel,) = summary.channels.values()
    assert (channel.topic, channel.message_encoding) == ("/say", "cdr")
    assert channel.metadata == {
        "offered_qos_profiles": offered_profiles([LATCHED]),
        "topic_type_hash": "RIHS01_",
    }
    (schema,) = summary.schemas.values()
    assert (schema.name, schema.encoding) == ("std_msgs/msg/String", "ros2msg")
    assert summary.statistics.message_count == 3
    assert [text.data for _, _, _, text in messages] == ["text 0", "text 1", "text 2"]
    times = [(m.log_time, m.publish_time, m.sequence) for _, _, m, _ in messages]
    assert times == [(100, 50, 0), (101, 51, 1), (102, 52, 2)]


def test_types_are_described_once(tmp_path):
    path = tmp_path / "out.mcap"
    with McapFile(path) as file:
        write_texts(file)
        file.add_topic("/other", type_name(String), message_definition(String))
        with pytest.raises(ValueError, match="/other is in the file already"):
            file.add_topic("/other", type_name(String), message_definition(String))
    summary = decoded(path)[1]
    assert len(summary.schemas) == 1
    assert len(summary.channels) == 2


def test_what_was_flushed_can_be_read_without_the_end_of_the_file(tmp_path):
    path = tmp_path / "out.mcap"
    file = McapFile(path)
    write_texts(file)
    file.flush()
    write_texts(file, start=3)
    texts = []
    with open(path, "rb") as stream, pytest.raises(McapError):
        for record in StreamReader(stream, emit_chunks=False).records:
            if type(record).__name__ == "Message":
                texts.append(record.data)
    assert texts == [encode_message(String(data=f"text {n}")) for n in range(3)]
    file.close()
    file.close()
    assert len(decoded(path)[2]) == 6


def test_a_disk_that_is_full_is_told_once_and_the_file_given_back(tmp_path):
    path = tmp_path / "full.mcap"
    path.symlink_to("/dev/full")
    file = McapFile(path)
    with pytest.raises(OSError, match="No space left"):
        write_texts(file, 40_000)
        file.flush()
    file.close()


def test_a_failure_in_the_middle_is_not_hidden_by_that_of_closing(tmp_path):
    path = tmp_path / "full.mcap"
    path.symlink_to("/dev/full")
    with pytest.raises(KeyError), McapFile(path) as file:
        write_texts(file)
        raise KeyError


# ---------------------------------------------------------------- runs


def test_a_held_object_lies_in_the_frame_of_its_segment(tmp_path):
    from octo_reach.recordings.run_recording import RunRecording

    path = tmp_path / "grasp.mcap"
    octopus = make_grasping_octopus(0.0)
    with McapFile(path) as file:
        recording = RunRecording(file)
        recording.record(octopus)
        for _ in range(119):
            octopus.step(1.0 / 120.0)
            recording.record(octopus)
    grip = octopus.arm(1).grip
    assert grip is not None
    (capture,) = octopus.captures
    told = {"/objects": [], "/grasps": []}
    for _, channel, message, array in decoded(path)[2]:
        if channel.topic in told:
            told[channel.topic].append((message.log_time, array.markers))
    frame = f"arm_1/segment_{grip.segment}"
    moment = round(capture.seconds * 120.0) * 1_000_000_000 / 120.0
    for topic, (first, last) in told.items():
        assert first[0] == 0
        assert last[0] == pytest.approx(moment, abs=1.0), topic
        (marker,) = last[1]
        assert (marker.ns, marker.id, marker.header.frame_id) == ("food", 5, frame)
        assert (marker.pose.position.x, marker.pose.position.y) == grip.offset
    clear, lying = told["/objects"][0][1]
    assert (clear.action, lying.action) == (Marker.DELETEALL, Marker.ADD)
    assert lying.header.frame_id == "world"
