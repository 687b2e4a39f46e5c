"""Reaches what can be reached: plans a path that is certain to be clear, then follows it."""

from __future__ import annotations

import math

import numpy as np

from octo_reach.model.geometry import Floats, wrap
from octo_reach.model.octopus import Arm
from octo_reach.model.reach import Planner
from octo_reach.model.scene import ObjectKind
from octo_reach.planners.guided.aims import Aim, sensible_aim
from octo_reach.planners.guided.beginnings import Draws
from octo_reach.planners.guided.body import Body, body_of, place_effector
from octo_reach.planners.guided.clearance import room_of
from octo_reach.planners.guided.first_run import compile_guided_kernels
from octo_reach.planners.guided.playback import Playback
from octo_reach.planners.guided.retreat import Retreat
from octo_reach.planners.guided.search import SHARE_FOR_BETTER, Search

SLICE = 150_000
"""Work of one update, in looks of one segment at one obstacle: some 0.35 ms compiled."""
NARROW = 0.15
"""With less room than this the arm makes room before it plans, in pixels."""
BESIDE = 1.0
"""Room that is left beside an obstacle that lies on the target, in pixels."""
KEPT = 0.3
"""Share of a path's margin that is left when obstacles have moved; less, and it is planned anew."""
QUIET = 0.15
"""How long no obstacle must have moved for the scene to count as quiet, s."""
HORIZON = 0.5
"""How near something in the way must be to matter while obstacles move, s: it may be gone then."""
HURRY = 0.03
"""Share of the time a path takes that is spent in making it shorter while obstacles move."""
PATIENCE = 0.25
"""How long a search that found nothing is not repeated for another scene, s."""
LONG = 12
"""Slices after which it is said that the arm holds because it plans."""


class GuidedPlanner(Planner):
    """Plans from the present pose to the target, then moves along the plan at full speed.

    It plans a slice an update, while the arm holds, and certifies the rest of its path anew
    whenever an obstacle comes, goes or moves. An arm that an obstacle was put on first draws out
    of it. What an arm holds is planned for with its own size.

    Attributes:
        name: "guided".
        note: what it does while the arm holds, or why there is no way; else empty.
        state: "No way" while a search has found none, "Blocked" while the arm waits beside an
            obstacle that lies on its target, "Beyond reach" while it is stretched towards a target
            that is; else empty.
        gated: False: the arm may have to move though its target is blocked or reached.
        worked: work done in the last update, see `SLICE`.
    """

    name = "guided"
    gated = False

    def __init__(self, seed: int = 1) -> None:
        """Wait for a first update.

        Args:
            seed: of the numbers the search draws by lot; the same seed plans the same way.
        """
        self.note = ""
        self.state = ""
        self.worked = 0
        self._seed = seed
        self._begin()

    def reset(self) -> None:
        """Look at the next update whether all is as it was; forget the plan where it is not.

        A target that is sent again and again, as by a node that repeats itself, is no new one.
        """
        self._suspicious = True

    def _begin(self) -> None:
        self.note = ""
        self.state = ""
        self._suspicious = False
        self._body: Body | None = None
        self._effector: Body
        self._past = 0.0
        self._looked = False
        self._target: tuple[float, float] | None = None
        self._aim: Aim | None = None
        self._obstacles: Floats = np.empty((0, 3))
        self._search: Search | None = None
        self._playback: Playback | None = None
        self._expected: Floats | None = None
        self._resting = False
        self._scene_is_new = True
        self._scene_is_known = False
        self._waited = PATIENCE
        self._quiet = math.inf
        self._dt = 0.0
        self._retreat: Retreat | None = None
        self._cornered = False
        self._draws = Draws(self._seed)

    def propose(self, arm: Arm, target: Floats, obstacles: Floats, dt: float) -> Floats | None:
        """Propose the next step along the plan; None while there is none, or no need of one."""
        # At the first update of all, which whoever cannot wait later has made early.
        compile_guided_kernels()
        self.worked = 0
        self._waited += dt
        self._quiet += dt
        self._dt = dt
        angles = np.array(arm.angles)
        x, y = (target if arm.grip is None else arm.destination).tolist()
        body = body_of(arm) if self._suspicious or self._body is None else self._body
        if body.segments != len(angles):
            body = body_of(arm)
        known = self._target == (x, y) and self._body == body
        if not known or not self._stands_as_expected(angles):
            self._begin()
            self._body = self._effector = body
            self._target = (x, y)
            self._rules = arm.rules.for_kernels()
        if not self._scene_is_known or not np.array_equal(self._obstacles, obstacles):
            self._take_scene(np.array(obstacles))
        if self._resting and not self._reach_on(arm, body):
            return None
        turn = float(arm.parameters.turning_speed) * dt
        proposed = self._move(body, angles, turn)
        self._scene_is_new = False
        self._expected = angles if proposed is None else proposed
        return proposed

    def _take_scene(self, obstacles: Floats) -> None:
        if self._scene_is_known:
            self._quiet = 0.0
        self._scene_is_known = True
        self._obstacles = obstacles
        self._scene_is_new = True
        self._resting = False
        self._cornered = False
        if self._playback is not None:
            self._playback.doubt(obstacles)

    def _stands_as_expected(self, angles: Floats) -> bool:
        if self._expected is None:
            return True
        away = angles - self._expected
        away[0] = wrap(float(away[0]))
        return bool(np.abs(away).max() <= 1e-9)

    def _move(self, body: Body, angles: Floats, turn: float) -> Floats | None:
        if self._playback is not None:
            proposed = self._follow(self._playback, angles, turn)
            if self._playback is not None or proposed is not None:
                return proposed
        if self._scene_is_new and room_of(angles, body, self._obstacles) < 0.0:
            # An obstacle came too near while the arm held: first out of its way.
            self._search = None
        if self._search is None:
            proposed = self._prepare(body, angles, turn)
            if self._search is None:
                return proposed
        return self._search_on(self._search, body, angles, turn)

    def _prepare(self, body: Body, angles: Floats, turn: float) -> Floats | None:
        """Begin a search where one is needed and there is room; make room before, step by step."""
        room = room_of(angles, body, self._obstacles)
        self._aim = self._sensible_aim(self._effector)
        there = self._is_there(self._aim, self._effector, angles)
        narrow = 0.0 if there else NARROW * body.unit
        if room < narrow and self._retreat is None and not self._cornered:
            self._retreat = Retreat(body, self._obstacles)
        if self._retreat is not None:
            proposed = self._retreat.step(angles, room, self._obstacles, turn, self._rules)
            if not self.state:
                self.note = "an obstacle lies on the arm: drawing out" if room < 0.0 else ""
            if proposed is not None:
                return proposed
            self._retreat = None
            self._cornered = True
        if room <= 0.0:
            self._give_up("an obstacle pins the arm")
        elif there:
            self._rest()
        elif not self.state or self._waited >= PATIENCE:
            self._search = Search(
                self._effector,
                angles,
                self._aim.place,
                self._tolerance(body),
                self._obstacles,
                room,
                turn,
                self._draws,
                SHARE_FOR_BETTER if self._quiet > QUIET else HURRY,
            )
        return None

    def _sensible_aim(self, body: Body) -> Aim:
        assert self._target is not None
        margin = BESIDE * body.unit
        return sensible_aim(self._target, self._tolerance(body), body, self._obstacles, margin)

    def _is_there(self, aim: Aim, body: Body, angles: Floats) -> bool:
        x, y = place_effector(angles, body)
        return math.hypot(x - aim.place[0], y - aim.place[1]) <= self._tolerance(body)

    def _tolerance(self, body: Body) -> float:
        rules = self._rules
        return 0.9 * (rules.carry_tolerance if body.holder else rules.reach_tolerance)

    def _search_on(
        self, search: Search, body: Body, angles: Floats, turn: float
    ) -> Floats | None:
        self.worked = search.advance(SLICE)
        if not search.done:
            if search.slices > LONG and not self.state:
                self.note = "planning"
            return None
        self._search = None
        if search.path is None:
            self._give_up(search.failure)
            return None
        self.note = self.state = ""
        self._playback = Playback(search.path, search.margin, body, search.obstacles)
        if search.obstacles is not self._obstacles:
            self._playback.doubt(self._obstacles)
        return self._follow(self._playback, angles, turn)

    def _follow(self, playback: Playback, angles: Floats, turn: float) -> Floats | None:
        """Take the next step of a path; the path is dropped where it is clear no more."""
        playback.certify_ahead(KEPT * playback.margin, SLICE)
        if playback.refused and (
            self._quiet > QUIET or playback.known_ahead < HORIZON * turn / self._dt
        ):
            self._playback = None
            return None
        proposed = playback.step(angles, turn, self._rules)
        if proposed is None and not playback.undecided:
            self._playback = None
        if playback.finished:
            self._playback = None
            self._rest()
        return proposed

    def _rest(self) -> None:
        self._resting = True
        self._looked = False
        self.state = self.note = ""
        if self._aim is not None and self._aim.beyond:
            self.state = "Beyond reach"
            self.note = "the target is out of reach: stretched towards it"
        elif self._aim is not None and self._aim.blocked:
            self.state = "Blocked"
            self.note = "an obstacle lies on the target: waiting beside it"

    def _reach_on(self, arm: Arm, body: Body) -> bool:
        """Reach on past the target where only the last segment has come upon food.

        Two segments in a row have to touch it for a grasp, and a small one ends short of the joint
        between them where the tip is at its middle.

        Returns:
            Whether the arm is to go on.
        """
        if self._looked or self.state or body.holder:
            return False
        self._looked = True
        touches = arm.contacts()
        segments = touches.segments[touches.kinds == int(ObjectKind.FOOD)].tolist()
        if self._past >= 1.0 or segments != [body.segments]:
            # It was in vain, as with food that another arm holds: back to the target.
            vain = self._effector is not body
            self._past = 1.0
            self._effector = body
            self._resting = not vain
            return vain
        self._past += 0.5
        along = -self._past * body.length
        # What is to arrive is now a place on the last segment, as if something were held there.
        self._effector = body._replace(
            holder=body.segments, along=along, across=0.0, payload=body.clearance
        )
        self._resting = False
        return True

    def _give_up(self, why: str) -> None:
        self._resting = True
        self._waited = 0.0
        self.state = "No way"
        self.note = why
