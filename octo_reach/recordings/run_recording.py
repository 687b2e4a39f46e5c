"""A headless run as the messages that its nodes would have sent, in simulated time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import UPDATE_RATE
from octo_reach.recordings.mcap_file import McapFile
from octo_reach.ros.contacts import ContactCloudBuilder
from octo_reach.ros.definitions import message_definition, type_name
from octo_reach.ros.description import robot_description
from octo_reach.ros.encoding import encode_message
from octo_reach.ros.frames import arm_name
from octo_reach.ros.grasps import GraspMarkers
from octo_reach.ros.joint_states import JointStateBuilder
from octo_reach.ros.markers import ArmMarkers
from octo_reach.ros.objects import ObjectMarkers, WorldObject
from octo_reach.ros.offered_profiles import offered_profiles
from octo_reach.ros.plain_messages import NANOSECONDS, stamp, text_message
from octo_reach.ros.quality_of_service import LATCHED, STREAM
from octo_reach.ros.states import ArmStatesBuilder
from octo_reach.ros.targets import TipBuilder, TipErrorBuilder
from octo_reach.ros.transforms import JointTransforms, fixed_transforms

DRAWING_STEPS = 4
"""Steps between two drawings of the arms, and between two sets of transforms: 30 Hz."""
STATES_STEPS = 60
"""Steps between two reports of the arms where nothing changes: 2 Hz."""
OBJECTS_STEPS = 120
"""Steps between two reports of objects where nothing changes: 1 Hz."""


class RunRecording:
    """Writes what controller, world and robot_state_publisher say of a run in metres.

    The stamps are those of the run: the start is 0, and a step takes 1/120 s.
    """

    def __init__(self, file: McapFile, resets: Collection[int] = ()) -> None:
        """Write nothing yet.

        Args:
            file: where to.
            resets: the ticks at which an arm is put into its starting pose, which is no motion.
        """
        self._file = file
        self._resets = frozenset(resets)
        self._now = 0
        self._joints = JointStateBuilder()
        self._contacts = ContactCloudBuilder()
        self._grasps = GraspMarkers()
        self._states = ArmStatesBuilder()
        self._drawing = ArmMarkers()
        self._objects = ObjectMarkers()
        self._transforms = JointTransforms()
        self._tips: dict[int, TipBuilder] = {}
        self._tip_errors: dict[int, TipErrorBuilder] = {}
        self._laid: tuple[WorldObject, ...] | None = None

    def record(self, octopus: Octopus) -> None:
        """Write the present moment: call it at the start of a run and after every step.

        Args:
            octopus: the octopus, in metres.

        Raises:
            OSError: the file cannot be written.
        """
        tick = octopus.ticks
        self._now = round(tick * NANOSECONDS / UPDATE_RATE)
        now = stamp(self._now)
        if tick == 0:
            self._begin(octopus)
        if tick in self._resets:
            self._joints.restart()
        self._record_objects(octopus)
        if tick % DRAWING_STEPS == 0:
            self._say("/tf", self._transforms.fill(octopus, now))
        joints = self._joints.fill(octopus, now, 1.0 / UPDATE_RATE)
        self._write("/joint_states", self._joints.kind, joints)
        contacts = self._contacts.fill(octopus.contacts, now)
        self._write("/contacts", self._contacts.kind, contacts)
        for arm in octopus.arms:
            tip = self._tips.setdefault(arm.number, TipBuilder())
            error = self._tip_errors.setdefault(arm.number, TipErrorBuilder())
            self._write(f"/{arm_name(arm.number)}/tip", tip.kind, tip.fill(arm.tip, now))
            self._write(f"/{arm_name(arm.number)}/tip_error", error.kind, error.fill(arm.tip_error))
        if tick % STATES_STEPS == 0 or self._states.changed(octopus):
            states = self._states.fill(octopus, now)
            self._write("/arm_states", self._states.kind, states, latched=True)
        if tick % DRAWING_STEPS == 0:
            self._write("/markers", self._drawing.kind, self._drawing.fill(octopus))

    def _begin(self, octopus: Octopus) -> None:
        placements = [arm.placement for arm in octopus.arms]
        description = robot_description(placements, octopus.rules)
        self._say("/robot_description", text_message(description), latched=True)
        self._say("/tf_static", fixed_transforms(placements), latched=True)
        self._say("/grasps", self._grasps.start(octopus.numbers), latched=True)

    def _record_objects(self, octopus: Octopus) -> None:
        # A claim comes before what the world makes of it.
        if self._grasps.changed(octopus):
            self._say("/grasps", self._grasps.fill(octopus), latched=True)
        objects = _world_objects(octopus)
        if objects != self._laid or octopus.ticks % OBJECTS_STEPS == 0:
            message = self._objects.fill(objects, clear_first=self._laid is None)
            self._laid = objects
            self._say("/objects", message, latched=True)

    def _say(self, topic: str, message: Any, latched: bool = False) -> None:
        self._write(topic, type(message), encode_message(message), latched)

    def _write(self, topic: str, kind: Any, data: bytes, latched: bool = False) -> None:
        if topic not in self._file.topics:
            profile = LATCHED if latched else STREAM
            self._file.add_topic(
                topic, type_name(kind), message_definition(kind), offered_profiles([profile])
            )
        self._file.write(topic, data, self._now, self._now)


def _world_objects(octopus: Octopus) -> tuple[WorldObject, ...]:
    """Give the objects with what they are fixed to.

    Where a held one is in the world says only the pose of its arm.
    """
    grips = {
        arm.grip.object: (arm.number, arm.grip) for arm in octopus.arms if arm.grip is not None
    }
    objects = []
    for thing in octopus.objects:
        held = grips.get(thing.number)
        if held is None:
            objects.append(WorldObject(thing.number, thing.kind, thing.position, thing.radius))
            continue
        number, grip = held
        objects.append(
            WorldObject(
                thing.number,
                thing.kind,
                (0.0, 0.0),
                thing.radius,
                holder=(number, grip.segment),
                offset=grip.offset,
            )
        )
    return tuple(objects)
