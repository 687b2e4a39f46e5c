"""What is said of a tip, how often, and to nobody when nobody listens."""

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Path
from rclpy.serialization import deserialize_message
from ros_messages import STAMP, STEP, make_octopus
from std_msgs.msg import Float64

from octo_reach.nodes.audience import PATIENCE
from octo_reach.nodes.tip_topics import TRAIL_PATIENCE, TRAIL_PERIOD, TipTopics

pytestmark = pytest.mark.ros


class Topic:
    """A publisher that keeps what it is given."""

    def __init__(self, kind):
        self.kind = kind
        self.listeners = 0
        self.asked = 0
        self.said = []

    def get_subscription_count(self):
        self.asked += 1
        return self.listeners

    def publish(self, message):
        self.said.append(deserialize_message(message, self.kind))


class Speaker:
    """A node with an arm, and a clock that is set by hand."""

    def __init__(self):
        self.topics = {}
        self.now = 10.0
        self.octopus = make_octopus((2,))
        self.arm = self.octopus.arm(2)
        self.tips = TipTopics(self, 2, lambda: self.now)

    def create_publisher(self, kind, name, quality):
        self.topics[name, kind] = Topic(kind)
        return self.topics[name, kind]

    def topic(self, name, kind):
        return self.topics[f"arm_2/{name}", kind]

    def steps(self, count, moving=True):
        for _ in range(count):
            if moving:
                self.octopus.step(STEP)
            self.now += STEP
            for topic, message in self.tips.messages(self.arm, STAMP):
                topic.publish(message)


@pytest.fixture
def speaker():
    return Speaker()


def test_what_nobody_hears_is_not_said(speaker):
    speaker.steps(30)
    assert len(speaker.topics) == 3
    assert not any(topic.said for topic in speaker.topics.values())


def test_tip_and_error_come_every_step(speaker):
    tip, error = speaker.topic("tip", PointStamped), speaker.topic("tip_error", Float64)
    tip.listeners = error.listeners = 1
    for count in range(1, 6):
        speaker.steps(1)
        assert len(tip.said) == len(error.said) == count
        assert error.said[-1].data == pytest.approx(speaker.arm.tip_error)
        assert (tip.said[-1].point.x, tip.said[-1].point.y) == tuple(speaker.arm.tip.tolist())


def test_who_comes_later_hears_before_long_though_nobody_looks_for_listeners_at_every_step(speaker):
    tip = speaker.topic("tip", PointStamped)
    speaker.steps(1)
    tip.asked = 0
    tip.listeners = 1
    speaker.steps(12)
    unheard = 12 - len(tip.said)
    assert unheard * STEP <= PATIENCE + STEP
    assert 1 <= tip.asked <= 12 * STEP / PATIENCE
    tip.listeners = 0
    speaker.steps(12)
    tip.said.clear()
    speaker.steps(12)
    assert not tip.said


def test_a_trail_that_goes_on_comes_ten_times_a_second_and_misses_no_step(speaker):
    trail = speaker.topic("trail", Path)
    trail.listeners = 1
    speaker.steps(60)
    assert speaker.arm.state == "Reaching"
    assert len(trail.said) == pytest.approx(60 * STEP / TRAIL_PERIOD, abs=1)
    points = trail.said[-1].poses
    assert len(points) > 5
    # The tip at the steps between two messages is in it as well.
    assert len(points) > len(trail.said)


def test_the_trail_of_a_tip_that_rests_comes_now_and_then_for_whoever_is_new(speaker):
    trail = speaker.topic("trail", Path)
    trail.listeners = 1
    speaker.steps(30)
    speaker.steps(14, moving=False)
    trail.said.clear()
    speaker.steps(round(3 * TRAIL_PATIENCE / STEP), moving=False)
    assert len(trail.said) == pytest.approx(3, abs=1)
    assert trail.said[0].poses == trail.said[-1].poses


def test_after_a_reset_the_trail_is_gone_at_once(speaker):
    trail = speaker.topic("trail", Path)
    trail.listeners = 1
    speaker.steps(60)
    speaker.tips.restart()
    assert len(trail.said[-1].poses) == 0
    speaker.steps(20)
    assert 0 < len(trail.said[-1].poses) < 20


def test_who_listens_again_is_not_told_of_the_way_nobody_watched(speaker):
    trail = speaker.topic("trail", Path)
    trail.listeners = 1
    speaker.steps(60)
    trail.listeners = 0
    speaker.steps(60)
    trail.listeners = 1
    trail.said.clear()
    speaker.steps(1)
    speaker.now += TRAIL_PATIENCE
    speaker.steps(1)
    assert 1 <= len(trail.said[0].poses) <= 2
