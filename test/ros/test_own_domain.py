"""A domain that is nobody else's, for as long as it is used."""

from __future__ import annotations

import os
import socket

from octo_reach.nodes.own_domain import (
    FIRST_PORT,
    PARTICIPANT_PORT,
    PORTS_A_DOMAIN,
    is_inhabited,
    own_domain,
)


def test_two_at_once_get_two_and_the_environment_is_put_back(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "201")
    monkeypatch.setenv("ROS_LOCALHOST_ONLY", "0")
    monkeypatch.delenv("ROS_AUTOMATIC_DISCOVERY_RANGE", raising=False)
    before = dict(os.environ)
    with own_domain(tmp_path) as first:
        assert os.environ["ROS_DOMAIN_ID"] == str(first)
        assert os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
        assert "ROS_LOCALHOST_ONLY" not in os.environ
        with own_domain(tmp_path) as second:
            assert second != first
        assert os.environ["ROS_DOMAIN_ID"] == str(first)
    assert dict(os.environ) == before


def test_a_domain_somebody_is_in_is_left_alone(tmp_path):
    with own_domain(tmp_path) as domain:
        pass
    port = FIRST_PORT + PORTS_A_DOMAIN * domain + PARTICIPANT_PORT
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as neighbour:
        neighbour.bind(("", port))
        assert is_inhabited(domain)
        with own_domain(tmp_path) as other:
            assert other != domain
    assert not is_inhabited(domain)
