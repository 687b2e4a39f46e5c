"""What pip and colcon install of octo_reach, and where.

The metadata stands here and not in pyproject.toml: `colcon build --symlink-install` runs this file
from its build folder, where pyproject.toml, README.md and LICENSE are not.
"""

import os
from itertools import chain

from setuptools import find_packages, setup

PACKAGE = "octo_reach"

# The ROS 2 release on PyPI whose wheels fit together; another one needs other numbers throughout.
KILTED_INTERFACES = "5.5.1"
EXTRAS = {
    "ros": [
        "ros-kilted-rclpy[fastrtps]==9.1.2",
        f"ros-kilted-diagnostic-msgs=={KILTED_INTERFACES}",
        f"ros-kilted-geometry-msgs=={KILTED_INTERFACES}",
        f"ros-kilted-nav-msgs=={KILTED_INTERFACES}",
        "ros-kilted-rosgraph-msgs==2.3.0",
        f"ros-kilted-sensor-msgs=={KILTED_INTERFACES}",
        f"ros-kilted-std-msgs=={KILTED_INTERFACES}",
        f"ros-kilted-std-srvs=={KILTED_INTERFACES}",
        f"ros-kilted-trajectory-msgs=={KILTED_INTERFACES}",
        f"ros-kilted-visualization-msgs=={KILTED_INTERFACES}",
        "transforms3d>=0.4.1",
    ],
    "fast": ["numba>=0.58"],
    "cluster": ["dask[distributed]>=2024.1"],
    "parquet": ["pyarrow>=17"],
    "viewer": ["viser>=1.1.1,<1.2", "websockets>=15"],
    "planning": ["ompl>=2.0.1,<2.1"],
    "record": ["mcap>=1.6", "mcap-ros2-support>=0.6"],
    "plot": ["matplotlib>=3.6", "pillow>=10"],
    "test": [
        "hypothesis>=6.98",
        "mypy>=1.8",
        "pytest==7.4.4",
        "pytest-benchmark>=4,<5.1",  # later ones need a later pytest
        "pytest-xdist>=3.5",
        "ruff>=0.6",
        "setuptools>=70.1,<80",  # a test builds the package without the network
        "types-PyYAML",
    ],
}
EXTRAS["all"] = sorted(set(chain.from_iterable(EXTRAS.values())))


def files_below(folder: str) -> dict[str, list[str]]:
    """Return the files of `folder`, grouped by the folder that holds them."""
    groups: dict[str, list[str]] = {}
    for parent, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        names = sorted(name for name in names if not name.startswith("."))
        if names:
            groups[parent] = [os.path.join(parent, name) for name in names]
    return groups


def shared_files() -> list[tuple[str, list[str]]]:
    """Return what goes below PREFIX/share, as setuptools' (target folder, files) pairs."""
    share = f"share/{PACKAGE}"
    pairs = [
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (share, ["package.xml"]),
    ]
    for folder in ("launch", "config", "rviz", "examples"):
        pairs += [(f"{share}/{parent}", files) for parent, files in files_below(folder).items()]
    # The benchmarks measure the compiled kernels beside this one.
    if os.path.exists("test/plain_stepper.py"):
        pairs.append((f"{share}/test", ["test/plain_stepper.py"]))
    return pairs


def long_description() -> str:
    """Return the README, or nothing in a build folder that has none."""
    if not os.path.exists("README.md"):
        return ""
    with open("README.md", encoding="utf-8") as readme:
        return readme.read()


setup(
    name=PACKAGE,
    version="0.1.0",
    description="Reaching, avoiding and grasping with soft octopus arms, in plain numpy and ROS 2",
    long_description=long_description(),
    long_description_content_type="text/markdown",
    author="octo_reach developers",
    author_email="octo_reach@example.org",
    maintainer="octo_reach developers",
    maintainer_email="octo_reach@example.org",
    license="Apache-2.0",
    classifiers=[
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering",
    ],
    python_requires=">=3.10",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=shared_files(),
    zip_safe=False,
    install_requires=["numpy>=1.24,<3", "PyYAML>=6.0", "rich>=13.0"],
    extras_require=EXTRAS,
    entry_points={
        "console_scripts": [
            "octo-reach = octo_reach.cli:main",
            "reach_controller = octo_reach.nodes.executables:reach_controller",
            "simulated_world = octo_reach.nodes.executables:simulated_world",
            "fabrik_planner = octo_reach.nodes.executables:fabrik_planner",
            "jacobian_planner = octo_reach.nodes.executables:jacobian_planner",
            "guided_planner = octo_reach.nodes.executables:guided_planner",
            "ompl_planner = octo_reach.nodes.executables:ompl_planner",
            "viewer = octo_reach.nodes.executables:viewer",
            "handles = octo_reach.nodes.executables:handles",
        ],
    },
)
