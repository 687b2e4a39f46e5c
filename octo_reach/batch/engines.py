"""Where the runs of a sweep are executed: here, in processes of this machine, or on a cluster."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import multiprocessing
import os
import pickle
import re
import signal
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing import connection, resource_tracker
from typing import Any

import octo_reach
from octo_reach.batch.measures import compile_measures
from octo_reach.batch.sweep import Rows, Run, execute_run, failed_rows
from octo_reach.model.octopus import compile_kernels

MOST_ATTEMPTS = 3
"""How many workers may die over a run before the run counts as failed."""
PATIENCE = 10.0
"""How long a scheduler may take to answer, s."""
ADDRESS = re.compile(r"((tcp|tls|ucx|ws|wss)://)?[^/\s]+:[0-9]{1,5}", re.ASCII)
"""What the address of a scheduler looks like."""
LOST_SCHEDULER = (OSError, asyncio.CancelledError, asyncio.TimeoutError)
"""What a client raises, and what its futures hold, once there is no scheduler."""
FAREWELL = 2.0
"""How long a worker process may take to end once it was told to, s."""


class EngineError(RuntimeError):
    """The runs cannot be executed there."""


def prepare(report: Callable[[str], None] | None = None) -> None:
    """Compile everything a run needs, so that workers started after it find it ready.

    Args:
        report: called with one line before the work, where there is any to do.
    """
    compile_kernels(report)
    compile_measures()


class SequentialEngine:
    """Executes the runs one after the other in this process."""

    def run(self, runs: Sequence[Run]) -> Generator[tuple[int, Rows], None, None]:
        """Execute every run once, in order, and yield its index and its rows."""
        for run in runs:
            yield run.index, execute_run(run)


class ProcessEngine:
    """Executes the runs in processes of this machine.

    Each worker has one run at a time. When a worker dies, its run is given to another one.
    """

    def __init__(self, jobs: int) -> None:
        """Start nothing yet.

        Args:
            jobs: how many processes at most.

        Raises:
            ValueError: that is below 1.
        """
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, got {jobs}")
        self._jobs = jobs

    def run(self, runs: Sequence[Run]) -> Generator[tuple[int, Rows], None, None]:
        """Execute every run once, and yield its index and its rows as they come."""
        waiting = deque(runs)
        attempts: dict[int, int] = {}
        workers: list[_Worker] = []
        try:
            while waiting or any(worker.busy for worker in workers):
                while waiting and len(workers) < self._jobs:
                    workers.append(_Worker())
                for worker in workers:
                    if waiting and not worker.busy:
                        worker.start(waiting.popleft())
                for worker in _speaking(workers):
                    run = worker.busy
                    try:
                        rows = worker.take()
                    except EOFError:
                        workers.remove(worker)
                        worker.end()
                        if not worker.started and worker.code > 0:
                            raise EngineError(
                                f"a worker process could not start: exit code {worker.code}"
                            ) from None
                        if run is None:
                            continue
                        attempts[run.index] = attempts.get(run.index, 0) + 1
                        if attempts[run.index] < MOST_ATTEMPTS:
                            waiting.appendleft(run)
                            continue
                        died = f"{MOST_ATTEMPTS} worker processes died of it, {worker.death}"
                        rows = failed_rows(run, f"WorkerDied: {died}")
                    if run is not None and rows is not None:
                        yield run.index, rows
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.end()


def local_engine(jobs: int | None, runs: int) -> SequentialEngine | ProcessEngine:
    """Give the engine of this machine for so many runs.

    Args:
        jobs: how many processes at most; None for one for each core.
        runs: how many runs there are.
    """
    jobs = min(jobs or len(os.sched_getaffinity(0)), runs)
    return SequentialEngine() if jobs == 1 else ProcessEngine(jobs)


class _Worker:
    """One process, and the run it has.

    Attributes:
        busy: the run it has, or None.
        started: whether it got as far as to look for runs.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        # It would be started along with the first process, and undo the blocking below.
        resource_tracker.ensure_running()
        self.busy: Run | None = None
        self.started = False
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        # Ctrl-C reaches the whole group. Only this process is to act on it: the others inherit
        # that they do not even see it, from the first moment of their lives.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    def start(self, run: Run) -> None:
        self.busy = run
        # One that has just died is noticed when its rows are waited for.
        with contextlib.suppress(OSError):
            self.pipe.send(run)

    def take(self) -> Rows | None:
        """Give the rows of its run, or None where it only says that it has started.

        Raises:
            EOFError: the process has died.
        """
        try:
            rows: Rows | None = self.pipe.recv()
        except OSError:
            raise EOFError from None
        self.started = True
        if rows is not None:
            self.busy = None
        return rows

    def terminate(self) -> None:
        self.pipe.close()
        self.process.terminate()

    def end(self) -> None:
        """Wait for the end of the process, and bring it about."""
        self.pipe.close()
        self.process.join(FAREWELL)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    @property
    def code(self) -> int:
        """Exit code of the process that has ended; negative: the signal that killed it."""
        return self.process.exitcode or 0

    @property
    def death(self) -> str:
        return f"by signal {-self.code}" if self.code < 0 else f"with exit code {self.code}"


def _speaking(workers: Sequence[_Worker]) -> list[_Worker]:
    """Wait until any of the workers has said something or has died, and give those that did."""
    ready = connection.wait([worker.pipe for worker in workers])
    return [worker for worker in workers if worker.pipe in ready]


def _work(pipe: connection.Connection) -> None:
    """Execute runs until nobody sends any more: the life of a worker process."""
    with contextlib.suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            pipe.send(execute_run(pipe.recv()))


class DaskEngine:
    """Executes the runs on the workers of a running Dask scheduler.

    The scheduler gives what a lost worker had, results included, to another one. It starts and ends
    no workers; they, and the scheduler, need this package in this version.
    """

    def __init__(self, address: str, report: Callable[[str], None] | None = None) -> None:
        """Connect to nothing yet.

        Args:
            address: address of the scheduler, such as tcp://10.0.0.7:8786.
            report: called with a line where there is anything to wait for.

        Raises:
            ValueError: that is no address.
        """
        if ADDRESS.fullmatch(address) is None:
            raise ValueError(f"must be an address such as tcp://10.0.0.7:8786, got {address!r}")
        self._address = address
        self._report = report

    def run(self, runs: Sequence[Run]) -> Generator[tuple[int, Rows], None, None]:
        """Execute every run once, and yield its index and its rows as they come.

        Raises:
            EngineError: no scheduler answers, it went away, or it or a worker does not have
                this package in this version.
        """
        # Named, not imported: nothing else of the package needs it, or knows its types.
        distributed: Any = importlib.import_module("distributed")
        with contextlib.ExitStack() as stack:
            stack.enter_context(_quiet_client())
            try:
                client = distributed.Client(self._address, timeout=PATIENCE, set_as_default=False)
            except OSError as error:
                raise EngineError(
                    f"no scheduler answers at {self._address}: {_line(error)}"
                ) from None
            stack.enter_context(client)
            try:
                self._prepare_workers(client)
                yield from self._results(distributed, client, runs)
            except LOST_SCHEDULER:
                raise EngineError(f"the scheduler at {self._address} went away") from None

    def _results(
        self, distributed: Any, client: Any, runs: Sequence[Run]
    ) -> Generator[tuple[int, Rows], None, None]:
        # Two sweeps on one scheduler must not take each other's results for their own.
        name = f"octo-reach-{uuid.uuid4().hex}"
        futures: dict[Any, Run] = {
            client.submit(_execute, pickle.dumps(run), key=f"{name}-{run.index}", pure=False): run
            for run in runs
        }
        try:
            # The loop is named, since no client is the default one of this process.
            finished = distributed.as_completed(list(futures), loop=client.loop)
            for batch in finished.batches():
                # All that came together is fetched together. What is skipped has failed, or was
                # lost with its worker in this moment: asking for it waits until it was run again.
                fetched: dict[int, Rows] = dict(client.gather(batch, errors="skip"))
                for future in batch:
                    run = futures.pop(future)
                    rows = fetched.get(run.index)
                    yield run.index, _rows_of(run, future) if rows is None else rows
                    future.release()
        finally:
            with contextlib.suppress(Exception):
                client.cancel(list(futures), force=True)

    def _check(self, who: str, answer: Any) -> None:
        """Refuse somebody who has not this package, in this version.

        Dask has the scheduler load whatever it hands on, so it is no exception.
        """
        if isinstance(answer, BaseException):
            raise EngineError(f"{who} of {self._address} cannot run octo_reach: {_line(answer)}")
        version = answer[1]
        if version != octo_reach.__version__:
            raise EngineError(
                f"{who} of {self._address} has octo_reach {version}, not {octo_reach.__version__}"
            )

    def _prepare_workers(self, client: Any) -> None:
        """Compile once on every host that has workers, where each would compile at its first run.

        A worker that joins later does so.
        """
        hosts: dict[str, str] = {}
        try:
            answer: Any = client.run_on_scheduler(_describe)
        except ImportError as error:
            answer = error
        self._check("the scheduler", answer)
        for worker, answer in client.run(_describe, on_error="return").items():
            if not isinstance(answer, LOST_SCHEDULER):
                self._check(f"worker {worker}", answer)
                hosts.setdefault(answer[0], worker)
        if hosts:
            client.run(prepare, workers=list(hosts.values()), on_error="ignore")
        elif self._report is not None:
            self._report(f"{self._address} has no workers yet: the runs wait for them")


@contextlib.contextmanager
def _quiet_client() -> Iterator[None]:
    """Let the client log nothing: a lost scheduler ends in an error, which says so in a line."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _execute(pickled: bytes) -> tuple[int, Rows]:
    # Pickled here and not by Dask: the scheduler would unpickle every scene as well, for nothing.
    run: Run = pickle.loads(pickled)
    return run.index, execute_run(run)


def _rows_of(run: Run, future: Any) -> Rows:
    error = future.exception()
    if future.cancelled():
        raise asyncio.CancelledError
    if error is not None:
        return failed_rows(run, f"{type(error).__name__}: {error}")
    rows: Rows = future.result()[1]
    return rows


def _describe() -> tuple[str, str]:
    return os.uname().nodename, octo_reach.__version__


def _line(error: BaseException) -> str:
    return str(error).split("\n")[0] or type(error).__name__
