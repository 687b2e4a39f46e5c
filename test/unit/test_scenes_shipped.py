from __future__ import annotations

import pytest

from octo_reach.scenes.shipped import UnknownSceneError, find_scene, shipped_scenes


def test_a_shipped_scene_is_found_by_its_name():
    assert find_scene("first_reach") == shipped_scenes()["first_reach"]
    assert find_scene("first_reach").is_file()


def test_an_existing_file_comes_before_a_shipped_scene_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first_reach").write_text("")
    assert find_scene("first_reach").resolve() == tmp_path / "first_reach"


def test_a_path_is_taken_as_it_is(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("")
    assert find_scene(str(path)) == path


def test_an_unknown_name_is_refused_with_the_names_there_are_and_the_nearest():
    with pytest.raises(UnknownSceneError) as caught:
        find_scene("first_reech")
    text = str(caught.value)
    assert text.startswith("first_reech: there is no such file")
    assert all(name in text for name in shipped_scenes())
    assert text.endswith("did you mean first_reach?")


def test_an_install_without_scenes_ships_none(monkeypatch):
    def nowhere(*parts):
        raise FileNotFoundError

    monkeypatch.setattr("octo_reach.scenes.shipped.share_path", nowhere)
    assert shipped_scenes() == {}
    with pytest.raises(UnknownSceneError, match="the shipped scenes are: none"):
        find_scene("reef")
