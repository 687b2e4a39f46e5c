"""What is installed is what is in the tree, and it is found again wherever it was put."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

import pytest

import octo_reach
from octo_reach.installation import share_path

CHECKOUT = Path(__file__).resolve().parents[2]
SHARED_FOLDERS = ("launch", "config", "rviz", "examples")
DATA = "octo_reach-{version}.data/data"

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "setup.py").is_file(), reason="only a checkout can be compared"
)


def shared_files() -> list[str]:
    """Every file of the tree that must lie in share/octo_reach, by its path there."""
    files = [
        path.relative_to(CHECKOUT).as_posix()
        for folder in SHARED_FOLDERS
        for path in sorted((CHECKOUT / folder).rglob("*"))
        if path.is_file() and path.suffix != ".pyc" and not path.name.startswith(".")
    ]
    return [*files, "package.xml", "test/plain_stepper.py"]


def modules() -> list[str]:
    package = CHECKOUT / "octo_reach"
    return sorted(path.relative_to(CHECKOUT).as_posix() for path in package.rglob("*.py"))


def python(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    process = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PIP_NO_INDEX": "1", "PYTHONDONTWRITEBYTECODE": "1", **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-2000:]
    return process.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The package built from a copy of what setup.py reads, so that the tree stays as it is."""
    pytest.importorskip("setuptools", minversion="70.1")
    source = tmp_path_factory.mktemp("source")
    for name in ("setup.py", "setup.cfg", "pyproject.toml", "package.xml", "LICENSE"):
        (source / name).write_bytes((CHECKOUT / name).read_bytes())
    for name in ("octo_reach", "resource", "test", *SHARED_FOLDERS):
        (source / name).symlink_to(CHECKOUT / name, target_is_directory=True)
    python(
        "-c",
        "from setuptools.build_meta import build_wheel; build_wheel('dist')",
        cwd=source,
    )
    return next((source / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def names(wheel) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def metadata(wheel, tmp_path_factory) -> Distribution:
    folder = tmp_path_factory.mktemp("metadata")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return PathDistribution(next(folder.glob("*.dist-info")))


def test_every_shared_file_of_the_tree_is_installed_and_nothing_else(names):
    start = DATA.format(version=octo_reach.__version__) + "/share/octo_reach/"
    installed = [name.removeprefix(start) for name in names if name.startswith(start)]
    assert sorted(installed) == sorted(shared_files())


def test_every_module_of_the_tree_is_installed_and_nothing_else(names):
    installed = [name for name in names if name.startswith("octo_reach/")]
    assert sorted(installed) == sorted([*modules(), "octo_reach/py.typed"])


def test_the_package_is_entered_in_the_ament_index(names):
    start = DATA.format(version=octo_reach.__version__)
    assert f"{start}/share/ament_index/resource_index/packages/octo_reach" in names


def test_pip_makes_the_commands(metadata):
    commands = {entry.name: entry.value for entry in metadata.entry_points}
    assert commands == {
        "octo-reach": "octo_reach.cli:main",
        "reach_controller": "octo_reach.nodes.executables:reach_controller",
        "simulated_world": "octo_reach.nodes.executables:simulated_world",
        "fabrik_planner": "octo_reach.nodes.executables:fabrik_planner",
        "jacobian_planner": "octo_reach.nodes.executables:jacobian_planner",
        "guided_planner": "octo_reach.nodes.executables:guided_planner",
        "ompl_planner": "octo_reach.nodes.executables:ompl_planner",
        "viewer": "octo_reach.nodes.executables:viewer",
        "handles": "octo_reach.nodes.executables:handles",
    }


def test_every_version_number_is_the_same(metadata):
    manifest = ElementTree.parse(CHECKOUT / "package.xml").getroot()
    versions = {octo_reach.__version__, metadata.version, manifest.findtext("version")}
    assert len(versions) == 1


# --- Where it is found ---


def find_shared(package_parent: Path, *parts: str) -> str:
    code = "import sys, octo_reach.installation as i; print(i.share_path(*sys.argv[1:]))"
    return python("-c", code, *parts, cwd=Path("/"), PYTHONPATH=str(package_parent)).strip()


def test_a_checkout_is_read_where_it_lies():
    assert share_path("package.xml") == CHECKOUT / "package.xml"
    assert share_path("config", "scenes") == CHECKOUT / "config" / "scenes"


def test_pip_target_is_found(wheel, tmp_path):
    target = tmp_path / "with space"
    python("-m", "pip", "install", "--no-deps", "--target", target, wheel, cwd=tmp_path)
    for name in shared_files():
        assert find_shared(target, name) == str(target / "share" / "octo_reach" / name)


@pytest.mark.parametrize("modules", ["lib/python3/dist-packages", "lib/python3.12/site-packages"])
def test_a_prefix_is_found(tmp_path, modules):
    module = tmp_path / modules / "octo_reach" / "installation.py"
    module.parent.mkdir(parents=True)
    module.write_bytes((CHECKOUT / "octo_reach" / "installation.py").read_bytes())
    (module.parent / "__init__.py").touch()
    scene = tmp_path / "share" / "octo_reach" / "config" / "scene.yaml"
    scene.parent.mkdir(parents=True)
    scene.touch()
    assert find_shared(tmp_path / modules, "config", "scene.yaml") == str(scene)


def test_links_to_a_checkout_lead_back_to_it(tmp_path):
    (tmp_path / "octo_reach").symlink_to(CHECKOUT / "octo_reach", target_is_directory=True)
    assert find_shared(tmp_path, "setup.cfg") == str(CHECKOUT / "setup.cfg")


def test_what_is_missing_is_named_with_where_it_was_searched():
    with pytest.raises(FileNotFoundError) as refusal:
        share_path("config", "scenes", "no such.yaml")
    assert "config/scenes/no such.yaml" in str(refusal.value)
    assert str(CHECKOUT) in str(refusal.value)


# --- Requirements ---


def requirement_names(requirements: list[str]) -> set[str]:
    return {re.match(r"[A-Za-z0-9._-]+", text)[0].lower() for text in requirements}


def requirements_of(metadata: Distribution, extra: str | None) -> set[str]:
    requires = metadata.requires or []
    marked = {text for text in requires if "extra ==" in text}
    if extra is None:
        return set(requires) - marked
    return {text.split(";")[0] for text in marked if re.search(rf"extra == .{extra}.$", text)}


def test_the_extra_all_forgets_no_extra(metadata):
    extras = set(metadata.metadata.get_all("Provides-Extra"))
    offered = {"ros", "fast", "plot", "viewer", "record", "planning", "cluster", "parquet"}
    assert extras == offered | {"test", "all"}
    others = set().union(*(requirements_of(metadata, extra) for extra in extras - {"all"}))
    assert requirements_of(metadata, "all") == others


def constraints() -> dict[str, list[str]]:
    pins: dict[str, list[str]] = {}
    for line in (CHECKOUT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([a-z0-9-]+)==([\w.]+)(; python_version (<|>=) \"3.11\")?", line)
            assert match, f"constraints.txt: {line} is no exact version"
            pins.setdefault(match[1], []).append(match[2])
    return pins


def test_every_requirement_has_an_exact_version_in_the_constraints(metadata):
    required = requirement_names(metadata.requires)
    assert required - set(constraints()) == set()


def imported_message_packages() -> set[str]:
    found = set()
    for path in (CHECKOUT / "octo_reach").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").split(".")[0])
            elif isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
    return {name for name in found if re.search(r"_(msgs|srvs|interfaces)$", name)}


def test_every_message_package_in_use_is_asked_for(metadata):
    manifest = ElementTree.parse(CHECKOUT / "package.xml").getroot()
    depends = {depend.text for depend in manifest.iter("exec_depend")}
    used = imported_message_packages()
    assert used - depends == set()
    # The interfaces of rclpy itself come with it.
    brought = {"builtin_interfaces", "rcl_interfaces"}
    wheels = requirement_names(list(requirements_of(metadata, "ros")))
    assert {f"ros-kilted-{name.replace('_', '-')}" for name in used - brought} - wheels == set()
