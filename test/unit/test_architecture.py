"""The arrows between the folders of the package: imports run down only.

    cli -> commands -> nodes -> recordings
        -> {planners, ros, scenes, pictures, viewer, benchmarks, batch} -> model

An import inside a function is an import all the same.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import octo_reach

PACKAGE = "octo_reach"
ROOT = Path(octo_reach.__file__).resolve().parent

ALLOWED = {
    "installation": set(),
    "model": set(),
    "planners": {"model"},
    "plants": {"model"},
    "ros": {"model"},
    "recordings": {"model", "ros"},
    "viewer": {"model"},
    "scenes": {"installation", "model", "planners"},
    "batch": {"model", "planners", "scenes"},
    "pictures": {"installation", "model", "planners", "scenes"},
    "benchmarks": {"installation", "model", "planners", "scenes"},
    "nodes": {
        "benchmarks",
        "installation",
        "model",
        "pictures",
        "planners",
        "plants",
        "recordings",
        "ros",
        "scenes",
        "viewer",
    },
}
ALLOWED["commands"] = {*ALLOWED["nodes"], "batch", "nodes"}
ALLOWED["cli"] = {*ALLOWED["commands"], "commands"}

ROS_PACKAGES = {
    "ament_index_python",
    "builtin_interfaces",
    "launch",
    "launch_ros",
    "rcl_interfaces",
    "rclpy",
    "rosidl_runtime_py",
    "std_srvs",
    "tf2_ros",
}

IMPORTERS = ("__import__", "import_module")
UNKNOWN = "octo_reach.unknown"
"""What a module imports whose name is only known when it runs."""


def sources() -> dict[str, Path]:
    """Every module of the package by its dotted name, `octo_reach.model` for its `__init__`."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


SOURCES = sources()


def imports_of(name: str, path: Path) -> Iterator[str]:
    """Yield the full dotted name of whatever a module imports, wherever in it."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = importlib.util.resolve_name("." * node.level + base, package)
            # `from octo_reach import model` names the folder only in the alias.
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and called_name(node) in IMPORTERS:
            argument = node.args[0]
            if isinstance(argument, ast.JoinedStr):  # f"octo_reach.commands.{name}"
                argument = argument.values[0]
            yield argument.value if isinstance(argument, ast.Constant) else UNKNOWN


def called_name(call: ast.Call) -> str | None:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else None


def part_of(module: str) -> str | None:
    """The folder or single module of the package that a dotted name leads into, if any."""
    names = module.split(".")
    return names[1] if names[0] == PACKAGE and len(names) > 1 else None


def is_ros(module: str) -> bool:
    top = module.split(".")[0]
    return top in ROS_PACKAGES or top.endswith("_msgs")


PARTS = sorted({part for name in SOURCES if (part := part_of(name))})


def test_every_folder_of_the_package_has_its_place_in_the_house():
    assert set(PARTS) - set(ALLOWED) == set()


@pytest.mark.parametrize("part", PARTS)
def test_imports_run_down_only(part):
    upward = []
    for name, path in SOURCES.items():
        if part_of(name) != part:
            continue
        for module in imports_of(name, path):
            target = part_of(module)
            # A command is looked up by the name that was typed; nothing else is.
            known = target in PARTS or (module == UNKNOWN and part not in ("cli", "commands"))
            if known and target != part and target not in ALLOWED[part]:
                upward.append(f"{name} imports {module}")
    assert upward == []


def test_the_package_itself_imports_none_of_its_parts():
    assert [module for module in imports_of(PACKAGE, ROOT / "__init__.py") if part_of(module)] == []


def test_only_ros_and_nodes_know_ros():
    elsewhere = [
        f"{name} imports {module}"
        for name, path in SOURCES.items()
        if part_of(name) not in ("ros", "nodes")
        for module in imports_of(name, path)
        if is_ros(module)
    ]
    assert elsewhere == []


def test_only_ros_turns_rotations():
    elsewhere = [
        name
        for name, path in SOURCES.items()
        if part_of(name) != "ros"
        for module in imports_of(name, path)
        if module.split(".")[0] == "transforms3d"
    ]
    assert elsewhere == []


def test_the_model_needs_numpy_and_at_most_numba():
    allowed = {"numpy", "numba", PACKAGE}
    beside = [
        f"{name} imports {module}"
        for name, path in SOURCES.items()
        if part_of(name) == "model"
        for module in imports_of(name, path)
        if module.split(".")[0] not in allowed and not is_standard(module)
    ]
    assert beside == []


def test_the_viewer_needs_only_its_browser_library_beside_the_model():
    allowed = {"numpy", "viser", "rich", "websockets", PACKAGE}
    beside = [
        f"{name} imports {module}"
        for name, path in SOURCES.items()
        if part_of(name) == "viewer"
        for module in imports_of(name, path)
        if module.split(".")[0] not in allowed and not is_standard(module)
    ]
    assert beside == []


def is_standard(module: str) -> bool:
    return module.split(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize(
    "source",
    [
        "import octo_reach.nodes.monitor",
        "from octo_reach import nodes",
        "from octo_reach.nodes import monitor",
        "from ..nodes.monitor import show",
        "from .. import nodes",
        "def later():\n    from octo_reach.nodes import monitor",
        "import importlib\nimportlib.import_module('octo_reach.nodes.monitor')",
        "from importlib import import_module\nimport_module('octo_reach.nodes')",
        "import importlib\nimportlib.import_module(f'octo_reach.nodes.{name}')",
    ],
)
def test_no_way_of_importing_goes_unseen(tmp_path, source):
    path = tmp_path / "arm.py"
    path.write_text(source, encoding="utf-8")
    parts = {part_of(module) for module in imports_of("octo_reach.model.arm", path)}
    assert "nodes" in parts
