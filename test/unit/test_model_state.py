import numpy as np
import pytest

from octo_reach.model.state import LINK, NOTHING, OBJECT, empty_state, pairs_of


def test_every_table_has_the_shape_its_docstring_states():
    arms, segments, objects, contacts = 2, 20, 3, 7
    state = empty_state(arms, segments, objects, contacts)
    assert {name: table.shape for name, table in state._asdict().items()} == {
        "arms": (arms,),
        "links": (arms, segments + 1),
        "objects": (objects,),
        "near": (arms, objects),
        "near_obstacles": (arms, objects, 3),
        "around": (arms, objects),
        "around_obstacles": (arms, objects, 3),
        "contacts": (arms, contacts),
        "versions": (2,),
        "nearby": (objects, 4),
        "pairs": (5 * objects,),  # twenty segments make five groups of four
    }
    assert all(table.flags.c_contiguous for table in state)


def test_fresh_arms_are_idle_hold_nothing_and_have_sensed_nothing():
    state = empty_state(2, 5, 3, 7)
    assert not state.arms["active"].any()
    for column in ("held", "candidate", "captured", "near_version", "around_pose", "sensed_motion"):
        assert np.all(state.arms[column] == NOTHING), column
    assert state.arms["gated"].all()
    assert np.all(state.objects["owner"] == NOTHING)


@pytest.mark.parametrize("sizes", [(0, 1, 0, 64), (1, 2, 0, 0), (0, 2, 5, 1)])
def test_there_may_be_no_arms_no_objects_and_no_room_for_contacts(sizes):
    state = empty_state(*sizes)
    assert len(state.arms) == sizes[0]
    assert len(state.objects) == sizes[2]


def test_points_are_views_of_two_neighbouring_columns():
    links = np.zeros((2, 4), LINK)
    pairs_of(links, "request")[1, 2] = (3.0, 4.0)
    assert links["request_x"][1, 2] == 3.0
    assert links["request_y"][1, 2] == 4.0
    assert np.count_nonzero(pairs_of(links, "goal")) == 0
    assert pairs_of(np.zeros(0, OBJECT), "").shape == (0, 2)
