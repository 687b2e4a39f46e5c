"""A ROS 2 domain that nobody else on this machine uses meanwhile."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

DOMAINS = range(1, 101)
"""Domains whose ports lie below the ones the system hands out by itself."""

FIRST_PORT, PORTS_A_DOMAIN, PARTICIPANT_PORT = 7400, 250, 10
"""Where the first participant of a domain listens (DDS-RTPS 2.5, 9.6.2.3)."""


@contextlib.contextmanager
def own_domain(log_folder: Path) -> Iterator[int]:
    """Put this process, and those it starts, into a domain of their own on this machine.

    Args:
        log_folder: where the nodes log.

    Yields:
        The domain.

    Raises:
        RuntimeError: every domain is in use.
    """
    with free_domain() as domain:
        wanted = {
            "ROS_DOMAIN_ID": str(domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_STATIC_PEERS": None,
            "ROS_LOCALHOST_ONLY": None,  # the older name, which would count
            "ROS_LOG_DIR": str(log_folder),
        }
        before = {name: os.environ.get(name) for name in wanted}
        _set_variables(wanted)
        try:
            yield domain
        finally:
            _set_variables(before)


def _set_variables(values: Mapping[str, str | None]) -> None:
    """Set variables of the environment; those without a value are removed."""
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextlib.contextmanager
def free_domain() -> Iterator[int]:
    """Give a domain that nobody is in, and keep it from others who ask here.

    A lock file stands for each domain; the system frees it however the process ends.

    Yields:
        The domain.

    Raises:
        RuntimeError: every domain is in use.
    """
    for step in range(len(DOMAINS)):
        domain = DOMAINS[(os.getpid() + step) % len(DOMAINS)]
        path = Path(tempfile.gettempdir()) / f"octo_reach_test_domain_{domain}.lock"
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            continue  # another user's
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue  # in use
            if is_inhabited(domain):
                continue
            yield domain
            return
        finally:
            os.close(lock)
    raise RuntimeError(
        f"all of the ROS domains {DOMAINS[0]} to {DOMAINS[-1]} are in use on this machine"
    )


def is_inhabited(domain: int) -> bool:
    """Tell whether somebody on this machine is in a domain, by the port its first node takes.

    Args:
        domain: the domain.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sound:
        try:
            sound.bind(("", FIRST_PORT + PORTS_A_DOMAIN * domain + PARTICIPANT_PORT))
        except OSError:
            return True
    return False
