"""Contacts as a point cloud."""

import copy

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_messages import STAMP, filled, make_octopus
from sensor_msgs.msg import PointField

from octo_reach.model.scene import ObjectKind
from octo_reach.ros.contacts import ContactCloudBuilder, contacts_from_cloud

pytestmark = pytest.mark.ros


def make_touching_octopus():
    octopus = make_octopus((1, 4))
    for number, kind in ((4, ObjectKind.HAZARD), (1, ObjectKind.FOOD)):
        x, y = octopus.arm(number).joints[8].tolist()
        octopus.add_object(kind, (x, y), 0.014)
    return octopus


def test_every_contact_is_a_point_with_its_numbers():
    octopus = make_touching_octopus()
    readings = octopus.contacts
    assert len(readings) > 4
    points = contacts_from_cloud(filled(ContactCloudBuilder(), readings, STAMP))
    np.testing.assert_allclose(points["x"], readings.points[:, 0], rtol=1e-6)
    np.testing.assert_allclose(points["y"], readings.points[:, 1], rtol=1e-6)
    np.testing.assert_allclose(points["distance"], readings.distances, rtol=1e-5, atol=1e-9)
    np.testing.assert_array_equal(points["arm"], readings.arms)
    np.testing.assert_array_equal(points["segment"], readings.segments)
    np.testing.assert_array_equal(points["object"], readings.objects)
    np.testing.assert_array_equal(points["kind"], readings.kinds)
    assert set(points["arm"].tolist()) == {1, 4}
    assert set(points["kind"].tolist()) == {1, 3}
    assert not points["z"].any()


def test_the_cloud_is_laid_out_as_the_interface_says():
    message = filled(ContactCloudBuilder(), make_touching_octopus().contacts, STAMP)
    assert message.header.frame_id == "world"
    assert message.header.stamp == STAMP
    assert [(field.name, field.datatype) for field in message.fields] == [
        *((name, PointField.FLOAT32) for name in ("x", "y", "z", "distance")),
        *((name, PointField.UINT32) for name in ("arm", "segment", "object", "kind")),
    ]
    assert [field.offset for field in message.fields] == list(range(0, 32, 4))
    assert message.height == 1
    assert message.row_step == message.width * message.point_step == len(message.data)


def test_nothing_touching_is_an_empty_cloud_before_and_after_contacts():
    octopus = make_touching_octopus()
    builder = ContactCloudBuilder()
    nothing = make_octopus().contacts
    for readings in (nothing, octopus.contacts, nothing, octopus.contacts):
        message = filled(builder, readings, STAMP)
        assert len(contacts_from_cloud(message)) == len(readings) == message.width
        assert len(message.data) == 32 * len(readings)
        assert len(message.fields) == 8


def test_more_contacts_than_ever_before_find_room():
    octopus = make_octopus((1,))
    builder = ContactCloudBuilder()
    builder.fill(octopus.contacts, STAMP)
    x, y = octopus.arm(1).joints[10].tolist()
    for _ in range(10):
        octopus.add_object(ObjectKind.HAZARD, (x, y), 0.1)
    points = contacts_from_cloud(filled(builder, octopus.contacts, STAMP))
    assert len(points) > 150
    np.testing.assert_array_equal(points["object"], octopus.contacts.objects)


def test_a_foreign_or_torn_cloud_is_refused():
    message = filled(ContactCloudBuilder(), make_touching_octopus().contacts, STAMP)
    torn = copy.deepcopy(message)
    torn.data = torn.data[:-1]
    with pytest.raises(ValueError, match="bytes"):
        contacts_from_cloud(torn)
    message.fields[3].name = "intensity"
    with pytest.raises(ValueError, match="intensity"):
        contacts_from_cloud(message)
