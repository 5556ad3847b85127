"""Which address counts as the source of a request."""

from __future__ import annotations

import pytest

from keepmum.server.edge.proxies import Proxies
from keepmum.server.people.failures import Failures

PROXIES = Proxies(["10.0.0.0/8", "2001:db8:1::/48", "192.0.2.7"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "source"),
    [
        pytest.param("203.0.113.9", "198.51.100.1", "203.0.113.9", id="nobody else is believed"),
        pytest.param("10.0.0.5", "203.0.113.9", "203.0.113.9", id="a proxy is"),
        pytest.param("10.0.0.5", "1.1.1.1, 203.0.113.9", "203.0.113.9", id="what the client wrote itself is not"),
        pytest.param("10.0.0.5", "1.1.1.1, 203.0.113.9, 10.1.1.1", "203.0.113.9", id="a chain of proxies"),
        pytest.param(
            "10.0.0.5", "10.9.9.9, 203.0.113.9, 10.1.1.1", "203.0.113.9", id="a proxy before a client is none"
        ),
        pytest.param("10.0.0.5", "", "10.0.0.5", id="a proxy's own request"),
        pytest.param("10.0.0.5", "10.1.1.1", "10.1.1.1", id="a proxy's request through another"),
        pytest.param("10.0.0.5", "203.0.113.9, unknown", "10.0.0.5", id="no address"),
        pytest.param("10.0.0.5", "203.0.113.9:4711", "203.0.113.9", id="with a port"),
        pytest.param("2001:db8:1::5", "[2001:db8:2::9]:4711", "2001:db8:2::9", id="IPv6 with a port"),
        pytest.param("2001:db8:1::5", "2001:db8:2::9", "2001:db8:2::9", id="IPv6"),
        pytest.param("::ffff:10.0.0.5", "203.0.113.9", "203.0.113.9", id="IPv4 within IPv6"),
        pytest.param("::ffff:203.0.113.9", "1.1.1.1", "203.0.113.9", id="a stranger's IPv4 within IPv6"),
        pytest.param("", "1.1.1.1", "", id="no peer"),
    ],
)
def test_the_source_is_the_last_address_that_is_not_a_proxy(peer: str, forwarded: str, source: str) -> None:
    assert PROXIES.source(peer, forwarded) == source


def test_addresses_of_one_ipv6_network_are_one_source() -> None:
    failures = Failures(lambda: 0.0)
    for number in range(10):
        assert failures.note(f"2001:db8::{number:x}") == 0
    assert failures.note("2001:db8::ffff") > 0
    assert failures.note("2001:db8:0:1::1") == 0
