"""What goes wrong with one part of the viewer, and what is said of it."""

import pytest

from octo_reach.viewer.faults import MOST_FAULTS, Faults


def test_what_is_contained_ends_nothing_and_is_said_once():
    said = []
    faults = Faults(said.append)
    for _ in range(3):
        with faults.contain("a part"):
            raise ValueError("broken")
    with faults.contain("another part"):
        raise ValueError("broken")
    assert len(said) == 2
    assert said[0].startswith("a part failed (ValueError): broken; ")
    assert "Traceback" in said[0]
    assert said[1].startswith("another part failed")


def test_an_end_that_is_asked_for_is_not_contained():
    for wish in (KeyboardInterrupt, SystemExit):
        with pytest.raises(wish), Faults(print).contain("a part"):
            raise wish


def test_whoever_makes_up_faults_does_not_fill_the_log():
    said = []
    faults = Faults(said.append)
    for count in range(3 * MOST_FAULTS):
        faults.note(f"fault {count}", "made up")
    assert len(said) == MOST_FAULTS
