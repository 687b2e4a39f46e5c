"""What the tests over real topics stand on: node processes, and a probe that talks to them.

Nothing here sleeps for luck: a wait names what it waits for, ends as soon as that is there, and
fails at its ceiling with what was seen instead. Every process is ended by its own id.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest
import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Parameter, ParameterValue, SetParametersResult
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter as RclpyParameter
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import QoSProfile
from std_srvs.srv import SetBool, Trigger

import octo_reach
from octo_reach.nodes.own_domain import free_domain
from octo_reach.ros.quality_of_service import INPUT, LATCHED, STREAM

CEILING = 10.0
"""Longest any single wait may last, s; one that lasts so long has failed."""

REPOSITORY = Path(octo_reach.__file__).resolve().parent.parent

Message = TypeVar("Message")
Found = TypeVar("Found")


@contextlib.contextmanager
def own_domain(log_folder: Path) -> Iterator[int]:
    """Put this process, and those it starts, into a DDS domain that nobody else is in.

    Args:
        log_folder: where the nodes log.
    """
    with free_domain() as domain, pytest.MonkeyPatch.context() as patch:
        for name, value in own_environment(domain, log_folder).items():
            patch.setenv(name, value)
        yield domain


def own_environment(domain: int, log_folder: Path) -> dict[str, str]:
    """Give the environment variables that keep a session's nodes to themselves."""
    paths = [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
    # Fast DDS 3, which came with ROS 2 Kilted as this class did, warns of the old name.
    middleware = "FASTDDS" if hasattr(rclpy, "InitContextManager") else "FASTRTPS"
    return {
        f"{middleware}_DEFAULT_PROFILES_FILE": str(Path(__file__).parent / "discovery.xml"),
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(log_folder),
        "ROS_PYTHON_CHECK_FIELDS": "1",
        "RCUTILS_COLORIZED_OUTPUT": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join(paths),
    }


class NodeProcess:
    """One process and what it says, line by line.

    Attributes:
        name: what failures call it.
        process: the `subprocess.Popen`.
    """

    def __init__(self, name: str, command: Sequence[str], folder: Path) -> None:
        """Start the command; its working folder is not the repository, so nothing is found by luck.

        Args:
            name: what failures call it.
            command: program and arguments.
            folder: working folder.
        """
        self.name = name
        self._lines: list[str] = []
        self._first = 0
        self._news = threading.Condition()
        self._ended = False
        self.process = subprocess.Popen(
            list(command),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self._lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def mark(self) -> None:
        """Let only lines count that are said from now on; several tests may share a process."""
        with self._news:
            self._first = len(self._lines)

    @property
    def lines(self) -> list[str]:
        """Everything it said since the last `mark`."""
        with self._news:
            return self._lines[self._first :]

    @property
    def output(self) -> str:
        """Everything it ever said, as one text."""
        with self._news:
            return "\n".join(self._lines)

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def matching(self, pattern: str) -> list[str]:
        """Give the lines since the last `mark` in which a regular expression is found."""
        return [line for line in self.lines if re.search(pattern, line)]

    def wait_for_line(self, pattern: str, timeout: float = CEILING) -> str:
        """Wait until a line is said in which a regular expression is found; see also `mark`.

        Args:
            pattern: the regular expression.
            timeout: ceiling, s.

        Returns:
            The line.
        """
        deadline = time.monotonic() + timeout
        with self._news:
            start = self._first
            while True:
                for line in self._lines[start:]:
                    if re.search(pattern, line):
                        return line
                start = len(self._lines)
                left = deadline - time.monotonic()
                if self._ended or left <= 0.0:
                    break
                self._news.wait(left)
        state = "ended" if self._ended else f"did not say so in {timeout:g} s"
        raise AssertionError(f"{self.name} {state}; no line matches {pattern!r} in:\n{self.output}")

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        self.process.send_signal(number)

    def wait(self, timeout: float = CEILING) -> int:
        """Wait until it ends by itself, and give its exit code."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"{self.name} is still running after {timeout:g} s; it said:\n{self.output}"
            ) from None
        self._reader.join(timeout)
        return code

    def stop(self, number: int = signal.SIGINT, timeout: float = CEILING) -> int:
        """Ask it to end, wait until it has, and give its exit code."""
        self.send_signal(number)
        return self.wait(timeout)

    def kill(self) -> None:
        """End it at once, without a chance to say goodbye, as a crash would."""
        self.process.kill()
        self.process.wait(CEILING)
        self._reader.join(CEILING)


class NodeStarter:
    """Starts the nodes of one test and sees to it that they end.

    Attributes:
        namespace: where nodes are put that are not given another place.
    """

    def __init__(self, folder: Path, namespace: str) -> None:
        """Start nothing yet.

        Args:
            folder: working folder of the processes, for parameter files too.
            namespace: default namespace of the nodes.
        """
        self.namespace = namespace
        self._folder = folder
        self._processes: list[NodeProcess] = []
        self._crashed: set[int] = set()

    def __call__(
        self,
        executable: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        namespace: str | None = None,
        remappings: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        ready: str | None = r"ready: ",
    ) -> NodeProcess:
        """Start a node and wait until it says that it is ready.

        Args:
            executable: name of the module in `octo_reach.nodes`.
            parameters: values by parameter name.
            name: other node name.
            namespace: other namespace than the test's own; '/' for none.
            remappings: new topic or service names by the old ones.
            arguments: further ROS arguments.
            ready: regular expression of the line to wait for; None to return at once.
        """
        command = [sys.executable, "-m", f"octo_reach.nodes.{executable}", "--ros-args"]
        command += ["-r", f"__ns:={namespace or self.namespace}"]
        if name is not None:
            command += ["-r", f"__node:={name}"]
        for old, new in (remappings or {}).items():
            command += ["-r", f"{old}:={new}"]
        if parameters:
            command += ["--params-file", str(self._parameter_file(executable, parameters))]
        process = NodeProcess(executable, [*command, *arguments], self._folder)
        self._processes.append(process)
        if ready is not None:
            process.wait_for_line(ready)
        return process

    def _parameter_file(self, executable: str, parameters: Mapping[str, Any]) -> Path:
        path = self._folder / f"{executable}_{len(self._processes)}.yaml"
        document = {"/**": {"ros__parameters": dict(parameters)}}
        path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        return path

    def crash(self, process: NodeProcess) -> None:
        """Kill a node as a crash would; its exit code is not held against it."""
        self._crashed.add(process.process.pid)
        process.kill()

    def expect_failure(self, process: NodeProcess) -> int:
        """Wait until a node gives up by itself; give its exit code, whatever that is."""
        self._crashed.add(process.process.pid)
        return process.wait()

    def stop_all(self) -> None:
        """End every node that still runs, and check that all ended well and said nothing awful."""
        running = [process for process in self._processes if process.running]
        for process in running:
            process.send_signal(signal.SIGINT)
        problems = []
        for process in self._processes:
            try:
                code = process.wait()
            except AssertionError as error:
                problems.append(str(error))
                process.kill()
                continue
            crashed = process.process.pid in self._crashed
            if code != 0 and not crashed:
                problems.append(f"{process.name} ended with {code}; it said:\n{process.output}")
            elif re.search(r"Traceback|Exception ignored|terminate called", process.output):
                problems.append(f"{process.name} has a traceback:\n{process.output}")
        self._processes.clear()
        assert not problems, "\n\n".join(problems)


class Recorder(Generic[Message]):
    """Everything a topic said since the probe listens to it.

    "Next" and "since" are told by when a message was published, not by when it was heard: on a busy
    machine many of before may still wait in the queue.

    Attributes:
        topic: name of the topic.
        messages: the last ones, oldest first.
        times: when each of them was heard, s of `time.monotonic`.
        count: number of messages heard since the start or the last `clear`.
        namespace: namespace of the probe that listens.
    """

    def __init__(self, probe: Probe, topic: str, memory: int) -> None:
        """Listen for nothing yet; `Probe.listen` makes and connects it."""
        self.topic = topic
        self.messages: deque[Message] = deque(maxlen=memory)
        self.times: deque[float] = deque(maxlen=memory)
        self.count = 0
        self.namespace = probe.node.get_namespace()
        self.subscription: Any = None
        self._probe = probe
        self._since = 0
        self._published = 0

    def hear(self, message: Message, info: Mapping[str, int]) -> None:
        """Note a message, unless it was published before the last `clear`.

        Args:
            message: the message.
            info: what the middleware says of it.
        """
        self._published = info["source_timestamp"]
        if self._published < self._since:
            return
        self.messages.append(message)
        self.times.append(time.monotonic())
        self.count += 1

    @property
    def latest(self) -> Message:
        """The newest message; there must be one."""
        assert self.messages, f"nothing was heard on {self.topic}"
        return self.messages[-1]

    def clear(self) -> None:
        """Forget what was said, be it heard or still on its way."""
        self.messages.clear()
        self.times.clear()
        self.count = 0
        self._since = time.time_ns()

    def wait_for(
        self,
        condition: Callable[[Message], Found] | None = None,
        what: str = "a message",
        timeout: float = CEILING,
    ) -> Message:
        """Wait for a message of which a condition holds; those already heard count too.

        Args:
            condition: what must be true of it; None takes any message.
            what: what is waited for, for the failure.
            timeout: ceiling, s.

        Returns:
            The first such message.
        """
        seen = 0

        def search() -> tuple[Message] | None:
            nonlocal seen
            fresh = min(self.count - seen, len(self.messages))
            seen = self.count
            for message in list(self.messages)[len(self.messages) - fresh :]:
                if condition is None or condition(message):
                    return (message,)
            return None

        def report() -> str:
            return f"{self.count} messages, last {self.messages[-1] if self.messages else None}"

        return self._probe.wait_until(search, f"{what} on {self.topic}", timeout, report)[0]

    def wait_until_latest(
        self,
        condition: Callable[[Message], object],
        what: str = "a message",
        timeout: float = CEILING,
    ) -> Message:
        """Wait until a condition holds of the newest message, and give it."""
        self._probe.wait_until(
            lambda: bool(self.count and condition(self.latest)),
            f"{what} on {self.topic}",
            timeout,
            lambda: str(self.latest if self.count else None),
        )
        return self.latest

    def wait_for_next(self, count: int = 1, timeout: float = CEILING) -> Message:
        """Wait for so many messages that are published after this is called; give the last."""
        now = time.time_ns()
        first: int | None = None

        def heard() -> bool:
            nonlocal first
            if first is None and self.count and self._published >= now:
                first = self.count
            return first is not None and self.count - first + 1 >= count

        self._probe.wait_until(heard, f"{count} more messages on {self.topic}", timeout)
        return self.latest


class Probe:
    """A node of the test that speaks, listens and calls; it is spun only while it waits.

    Attributes:
        node: the rclpy node, for whatever is not offered here.
    """

    def __init__(self, context: rclpy.Context, namespace: str, name: str = "probe") -> None:
        """Make the node.

        Args:
            context: the session's context.
            namespace: where the node lives; relative names are relative to it.
            name: name of the node.
        """
        self.node = rclpy.create_node(
            name, context=context, namespace=namespace, start_parameter_services=False
        )
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self.node)
        self._publishers: dict[tuple[type, str, int, int], Any] = {}
        self._clients: dict[tuple[type, str], Any] = {}
        self._answered: set[tuple[type, str]] = set()

    def close(self) -> None:
        """Take the node away."""
        self._executor.remove_node(self.node)
        self._executor.shutdown()
        self.node.destroy_node()

    # Waiting

    def wait_until(
        self,
        condition: Callable[[], Found],
        what: str,
        timeout: float = CEILING,
        report: Callable[[], str] | None = None,
    ) -> Found:
        """Spin until a condition holds, and give what it gave.

        Args:
            condition: asked before the first and after every callback; true ends the wait.
            what: what is waited for, for the failure.
            timeout: ceiling, s.
            report: says what was there instead, for the failure.
        """
        deadline = time.monotonic() + timeout
        while True:
            found = condition()
            if found:
                return found
            left = deadline - time.monotonic()
            if left <= 0.0:
                seen = f"; there is: {report()}" if report is not None else ""
                raise AssertionError(f"waited {timeout:g} s for {what}{seen}")
            # Not longer at a time: a condition may be of the clock, not of a message.
            self._executor.spin_once(timeout_sec=min(left, 0.05))

    def spin_for(self, seconds: float) -> None:
        """Listen for a fixed time, to see what does NOT happen, or how often something does."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def wait_for_line(self, process: NodeProcess, pattern: str, timeout: float = CEILING) -> str:
        """Spin until a node has said a line in which a regular expression is found; give it.

        Args:
            process: the node; lines before its last `mark` do not count.
            pattern: the regular expression.
            timeout: ceiling, s.
        """
        return self.wait_until(
            lambda: process.matching(pattern),
            f"a line of {process.name} that matches {pattern!r}",
            timeout,
            lambda: process.output,
        )[0]

    # Topics

    def listen(
        self, kind: type[Message], topic: str, qos: QoSProfile = STREAM, memory: int = 5000
    ) -> Recorder[Message]:
        """Listen to a topic from now on.

        Args:
            kind: message type.
            topic: its name, relative to the probe's namespace.
            qos: quality of service to ask for.
            memory: number of messages to keep.
        """
        recorder: Recorder[Message] = Recorder(self, topic, memory)
        recorder.subscription = self.node.create_subscription(kind, topic, recorder.hear, qos)
        return recorder

    def listen_latched(self, kind: type[Message], topic: str) -> Recorder[Message]:
        """Listen to a topic whose last message is kept for late joiners."""
        return self.listen(kind, topic, LATCHED)

    def stop_listening(self, recorder: Recorder[Any]) -> None:
        """Take a recorder's subscription away."""
        self.node.destroy_subscription(recorder.subscription)

    def publisher(self, kind: type, topic: str, qos: QoSProfile = INPUT) -> Any:
        """Give the publisher of a topic, the same one every time."""
        key = (kind, topic, int(qos.durability), qos.depth)
        if key not in self._publishers:
            self._publishers[key] = self.node.create_publisher(kind, topic, qos)
        return self._publishers[key]

    def send(
        self,
        topic: str,
        *messages: Any,
        qos: QoSProfile = INPUT,
        listeners: int = 1,
        timeout: float = CEILING,
    ) -> None:
        """Publish messages once somebody listens.

        Args:
            topic: its name.
            messages: at least one message, all of one type, sent in order.
            qos: quality of service to offer.
            listeners: number of subscriptions that must be there first; 0 to send at once.
            timeout: ceiling for the listeners to come, s.
        """
        publisher = self.publisher(type(messages[0]), topic, qos)
        self.wait_until(
            lambda: publisher.get_subscription_count() >= listeners,
            f"{listeners} listeners on {topic}",
            timeout,
        )
        for message in messages:
            publisher.publish(message)

    # Services and parameters

    def call(self, kind: type, service: str, request: Any = None, timeout: float = CEILING) -> Any:
        """Call a service and give its answer.

        Args:
            kind: service type.
            service: its name, relative to the probe's namespace.
            request: the request; None for an empty one.
            timeout: ceiling for the service to appear, and again for its answer, s.
        """
        key = (kind, service)
        if key not in self._clients:
            self._clients[key] = self.node.create_client(kind, service)
        client = self._clients[key]
        self.wait_until(client.service_is_ready, f"the service {service}", timeout)
        sent = request if request is not None else kind.Request()
        futures = [client.call_async(sent)]
        # A service that has not found its new client yet, as on a busy machine, drops its answer
        # for good after a tenth of a second: then it is asked again, once, unless twice is more.
        may_be_lost = key not in self._answered and not service.endswith("/step")
        lost = time.monotonic() + timeout / 3.0

        def answer() -> Any:
            if may_be_lost and len(futures) == 1 and time.monotonic() > lost:
                futures.append(client.call_async(sent))
            return next((future for future in futures if future.done()), None)

        done = self.wait_until(answer, f"an answer of {service}", timeout)
        self._answered.add(key)
        return done.result()

    def trigger(self, service: str) -> Trigger.Response:
        """Call a Trigger service."""
        return self.call(Trigger, service)

    def set_flag(self, service: str, value: bool) -> SetBool.Response:
        """Call a SetBool service."""
        return self.call(SetBool, service, SetBool.Request(data=value))

    def set_parameters(self, node: str, **values: Any) -> list[SetParametersResult]:
        """Set parameters of a node and give the results; '__' in a name stands for a dot.

        Args:
            node: name of the node.
            values: values by parameter name.
        """
        request = SetParameters.Request()
        for name, value in values.items():
            dotted = name.replace("__", ".")
            request.parameters.append(RclpyParameter(dotted, value=value).to_parameter_msg())
        return list(self.call(SetParameters, f"{node}/set_parameters", request).results)

    def set_raw_parameter(self, node: str, name: str, value: ParameterValue) -> SetParametersResult:
        """Set one parameter to a value of any type, as another tool might."""
        request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
        return self.call(SetParameters, f"{node}/set_parameters", request).results[0]

    def get_parameter(self, node: str, name: str) -> Any:
        """Give the value of a node's parameter, None where it is not set."""
        answer = self.call(
            GetParameters, f"{node}/get_parameters", GetParameters.Request(names=[name])
        )
        return parameter_value_to_python(answer.values[0])

    # Diagnostics

    def listen_to_diagnostics(self) -> Recorder[DiagnosticArray]:
        """Listen to what nodes say of themselves."""
        return self.listen(DiagnosticArray, "/diagnostics")


def status_values(message: DiagnosticArray, name: str) -> dict[str, str]:
    """Give the values of the first status whose name holds `name`; empty where there is none."""
    for status in message.status:
        if name in status.name:
            return {value.key: value.value for value in status.values}
    return {}
