"""The same sweep here, in processes and on a cluster: the same table, whatever dies on the way."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import pytest

import octo_reach
from octo_reach.batch import (
    DaskEngine,
    EngineError,
    ProcessEngine,
    Run,
    SequentialEngine,
    Sweep,
    plan_runs,
)
from octo_reach.batch.engines import prepare
from octo_reach.cli import main
from octo_reach.model.compilation import COMPILED
from octo_reach.scenes import load_scene
from octo_reach.scenes.shipped import find_scene

ROOT = Path(octo_reach.__file__).resolve().parents[1]
TICKS = 480 if COMPILED else 20
CEILING = 20.0
"""How long anything may take, s: far longer than it needs."""


@pytest.fixture(scope="module")
def runs():
    prepare()
    scenes = {name: load_scene(find_scene(name)) for name in ("reef", "detour")}
    return plan_runs(scenes, ["neighbour", "nonsense"], TICKS, "targets", range(1, 13))


@pytest.fixture(scope="module")
def expected(runs):
    sweep = Sweep(runs)
    sweep.run(SequentialEngine())
    rows = sweep.rows()
    # One row of each failed run, one for each arm of the others.
    assert len(rows) == 12 * (8 + 1 + 1 + 1)
    return rows


def test_processes_give_the_same_table(runs, expected):
    sweep = Sweep(runs)
    sweep.run(ProcessEngine(2))
    assert sweep.rows() == expected
    assert multiprocessing.active_children() == []


def test_a_killed_process_loses_nothing(runs, expected):
    killed = []

    def kill(done):
        if not killed:
            victim = multiprocessing.active_children()[0]
            killed.append(victim.pid)
            os.kill(victim.pid, signal.SIGKILL)

    sweep = Sweep(runs)
    sweep.run(ProcessEngine(2), kill)
    assert killed
    assert sweep.rows() == expected
    assert multiprocessing.active_children() == []


class Deadly(Run):
    """Ends any process that receives it."""

    def __reduce__(self):
        return os._exit, (9,)


def test_a_run_that_kills_every_process_is_a_row_and_the_others_go_on(runs, expected):
    few = list(runs[24:27])
    few[1] = Deadly(*(getattr(few[1], field.name) for field in fields(Run)))
    sweep = Sweep(few)
    sweep.run(ProcessEngine(1))
    rows = sweep.rows()
    assert [row.error for row in rows] == [
        "",
        "WorkerDied: 3 worker processes died of it, with exit code 9",
        "",
    ]
    assert [rows[0], rows[2]] == [row for row in expected if row.scene == "detour"][:3:2]


def test_processes_that_cannot_start_are_an_error_at_once(runs, tmp_path, monkeypatch):
    # Each process runs the main module anew; this one cannot be run.
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit(3)\n", encoding="utf-8")
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(broken), raising=False)
    with pytest.raises(EngineError, match="a worker process could not start: exit code 3"):
        list(ProcessEngine(2).run(runs))
    assert multiprocessing.active_children() == []


def test_closing_ends_the_processes_with_their_runs(runs):
    results = ProcessEngine(2).run(runs)
    next(results)
    assert len(multiprocessing.active_children()) == 2
    results.close()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [0, -1])
def test_fewer_than_one_process_is_refused(jobs):
    with pytest.raises(ValueError, match=f"jobs must be at least 1, got {jobs}"):
        ProcessEngine(jobs)


@pytest.mark.parametrize("address", ["", "here", "foo://host:1", "tcp://host", "tcp://host:x"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ValueError, match="must be an address such as tcp://"):
        DaskEngine(address)


# ---------------------------------------------------------------- a cluster on this machine

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="distributed is not installed"
)


LOCAL = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file")


class Cluster:
    """A scheduler and its workers, each a process of its own that is ended by its own id."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.log = folder / "log"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self.start("scheduler", "--port", "0")
        until(lambda: self.file.exists() and self.file.read_text().endswith("}"))
        self.address = json.loads(self.file.read_text())["address"]

    def start(self, role: str, *options: str) -> subprocess.Popen[bytes]:
        with open(self.log, "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", role, *LOCAL, str(self.file), *options],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                cwd=self.file.parent,
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process

    def add_worker(self) -> None:
        self.workers.append(self.start("worker", "--nthreads", "1", "--no-nanny"))

    def wait_for_workers(self, count: int) -> None:
        until(lambda: self.log.read_text().count("Register worker") >= count)

    def end(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait(CEILING)


def until(condition) -> None:
    end = time.monotonic() + CEILING
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.add_worker()
        cluster.add_worker()
        cluster.wait_for_workers(2)
        yield cluster
    finally:
        cluster.end()


@needs_dask
def test_a_cluster_gives_the_same_table(cluster, runs, expected):
    done = []
    sweep = Sweep(runs)
    sweep.run(DaskEngine(cluster.address), done.append)
    assert sweep.rows() == expected
    assert done == list(range(1, len(runs) + 1))


@needs_dask
def test_a_cluster_with_another_version_is_refused(cluster, runs, monkeypatch):
    monkeypatch.setattr("octo_reach.__version__", "99.0")
    with pytest.raises(EngineError, match=r"the scheduler of .* has octo_reach .*, not 99\.0"):
        next(DaskEngine(cluster.address).run(runs))


@needs_dask
def test_a_killed_worker_loses_nothing(cluster, runs, expected):
    victim = cluster.workers.pop()

    def kill(done):
        if victim.poll() is None:
            os.kill(victim.pid, signal.SIGKILL)
            victim.wait(CEILING)

    sweep = Sweep(runs)
    sweep.run(DaskEngine(cluster.address), kill)
    assert victim.returncode == -signal.SIGKILL
    assert sweep.rows() == expected


@needs_dask
def test_the_command_writes_the_same_file_by_a_cluster_as_by_processes(cluster, tmp_path, capfd):
    files = [tmp_path / "cluster.csv", tmp_path / "processes.csv"]
    sweep = ["sweep", "detour", "reef", "--vary", "obstacles", "--seeds", "3", "--ticks", "120"]
    assert main([*sweep, "--scheduler", cluster.address, "--output", str(files[0])]) == 0
    assert main([*sweep, "--jobs", "2", "--output", str(files[1])]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert len(files[0].read_text().splitlines()) == 1 + 3 * 9
    assert "6 runs in " in capfd.readouterr().err


@needs_dask
def test_a_scheduler_that_goes_away_is_an_error_and_the_rows_are_kept(
    tmp_path, runs, expected, monkeypatch
):
    monkeypatch.setattr("octo_reach.batch.engines.PATIENCE", 2.0)
    cluster = Cluster(tmp_path)
    sweep = Sweep(runs)
    try:
        cluster.add_worker()
        cluster.wait_for_workers(1)
        with pytest.raises(EngineError, match=f"scheduler at {cluster.address} went away"):
            sweep.run(DaskEngine(cluster.address), lambda done: cluster.end())
    finally:
        cluster.end()
    assert 0 < sweep.finished < len(runs)
    assert set(sweep.rows()) < set(expected)


@needs_dask
def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr("octo_reach.batch.engines.PATIENCE", 0.2)
    assert main(["sweep", "detour", "--scheduler", "127.0.0.1:9"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("octo-reach: no scheduler answers at 127.0.0.1:9: ")
