import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from octo_reach.model import compilation

RUN = """
import json
import sys

if sys.argv[1] == "without numba":
    sys.modules["numba"] = None
from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.compilation import COMPILED
from octo_reach.model.octopus import Octopus, compile_kernels
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind

lines = []
compile_kernels(lines.append)
placement = ArmPlacement(1, ArmParameters(8, 12.0), target=(60.0, 50.0))
octopus = Octopus([placement], ReachRules.pixel())
octopus.add_object(ObjectKind.OBSTACLE, (70.0, 45.0), 8.0)
octopus.add_object(ObjectKind.FOOD, (40.0, 20.0), 9.0)
for _ in range(90):
    octopus.step(1 / 120)
print(json.dumps([COMPILED, lines, octopus.arm(1).angles.tolist(), octopus.arm(1).state]))
"""


def run_apart(how: str, **environment: str) -> list:
    """Run a small scene in a fresh interpreter."""
    package = Path(compilation.__file__).parents[2]
    paths = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-c", RUN, how],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout)


def test_without_numba_the_same_rules_run_and_it_is_said():
    compiled, lines, angles, state = run_apart("without numba")
    assert compiled is False
    assert len(lines) == 1
    assert "numba is not installed" in lines[0]
    _, _, compiled_angles, compiled_state = run_apart("as installed")
    assert angles == pytest.approx(compiled_angles, abs=1e-12)
    assert state == compiled_state


def test_where_numba_is_told_not_to_compile_the_same_rules_run_and_it_is_said():
    compiled, lines, angles, state = run_apart("as installed", NUMBA_DISABLE_JIT="1")
    assert compiled is False
    assert len(lines) == 1
    assert "switched off" in lines[0]
    _, _, compiled_angles, compiled_state = run_apart("as installed")
    assert angles == pytest.approx(compiled_angles, abs=1e-12)
    assert state == compiled_state


def test_without_numba_a_kernel_is_the_function_itself(monkeypatch):
    monkeypatch.setattr(compilation, "COMPILED", False)

    def double(value):
        return 2 * value

    assert compilation.compiled(double) is double


@pytest.mark.skipif(not compilation.COMPILED, reason="numba is not installed")
def test_a_kernel_computes_what_its_source_says():
    @compilation.compiled
    def double(value):
        return 2.0 * value

    assert double(4.0) == 8.0
    assert double.py_func(4.0) == 8.0


@pytest.mark.skipif(not compilation.COMPILED, reason="numba is not installed")
def test_compiling_leaves_the_settings_of_numba_as_they_were():
    before = compilation.numba.config.CACHE_DIR
    compilation.compiled(lambda value: value)
    assert before == compilation.numba.config.CACHE_DIR


def test_the_folder_of_compiled_code_follows_the_source(tmp_path, monkeypatch):
    monkeypatch.setattr(compilation, "__file__", str(tmp_path / "compilation.py"))
    source = tmp_path / "kernels.py"
    source.write_text("x = 1\n")
    before = compilation._source_digest()
    assert compilation._source_digest() == before
    source.write_text("x = 2\n")
    assert compilation._source_digest() != before


def test_kernels_elsewhere_in_the_package_follow_the_model_and_their_own_folder(tmp_path):
    source = tmp_path / "kernels.py"
    source.write_text("x = 1\n")
    before = compilation._source_digest(tmp_path)
    assert before != compilation._source_digest()
    source.write_text("x = 2\n")
    assert compilation._source_digest(tmp_path) != before


def test_compiled_code_lies_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = Path(compilation._cache_folder())
    assert folder.is_dir()
    assert folder.parent == tmp_path / "octo_reach"


def test_where_no_folder_can_be_made_nothing_is_kept(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert compilation._cache_folder() == ""


@pytest.mark.skipif(not compilation.COMPILED, reason="numba is not installed")
def test_a_first_compilation_is_announced_and_a_later_one_is_not(tmp_path):
    lines = [run_apart("as installed", XDG_CACHE_HOME=str(tmp_path))[1] for _ in range(2)]
    assert len(lines[0]) == 1
    assert "compiling" in lines[0][0]
    assert lines[1] == []
