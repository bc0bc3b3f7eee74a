"""The caller's address behind proxies: only what they have appended is believed."""

from typing import Any

import pytest

from workers.console.http.middleware import ForwardedHeaders
from workers.console.identity.security import network_of

FORGED = "198.51.100.66"
CALLER, FIRST, SECOND = "203.0.113.7", "10.0.0.1", "10.0.0.2"


async def seen(proxies: int, *headers: tuple[str, str]) -> tuple[str, str]:
    """Address and scheme of the caller, as the application sees them."""
    found: dict[str, Any] = {}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        found.update(scope)

    encoded = [(name.encode(), value.encode()) for name, value in headers]
    scope = {"type": "http", "headers": encoded, "client": (FIRST, 4711), "scheme": "http"}
    await ForwardedHeaders(app, proxies)(scope, None, None)  # type: ignore[arg-type]
    return found["client"][0], found["scheme"]


@pytest.mark.parametrize(
    ("proxies", "values", "address"),
    [
        (1, [CALLER], CALLER),
        (1, [f"{FORGED}, {CALLER}"], CALLER),
        (1, [FORGED, CALLER], CALLER),
        (2, [f"{FORGED}, {CALLER}, {SECOND}"], CALLER),
        (2, [CALLER], FIRST),
        (1, [], FIRST),
        (1, ["", " , "], FIRST),
        (1, [f"{CALLER}:51234"], CALLER),
        (1, ["[2001:db8::1]:51234"], "2001:db8::1"),
        (1, ["2001:db8::1"], "2001:db8::1"),
    ],
)
async def test_the_entry_of_the_outermost_proxy_is_the_caller(proxies: int, values: list[str], address: str) -> None:
    headers = [("x-forwarded-for", value) for value in values]
    assert (await seen(proxies, *headers))[0] == address


@pytest.mark.parametrize(
    ("proxies", "values", "scheme"),
    [
        (1, ["https"], "https"),
        (1, ["http", "https"], "https"),
        (1, ["https, http"], "http"),
        (2, ["https, http"], "https"),
        (2, ["https"], "https"),
        (1, ["javascript"], "http"),
        (1, [], "http"),
    ],
)
async def test_the_scheme_is_that_of_the_outermost_proxy(proxies: int, values: list[str], scheme: str) -> None:
    headers = [("x-forwarded-proto", value) for value in values]
    assert (await seen(proxies, *headers))[1] == scheme


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("fe80::1%eth0", "fe80::1", True),
        ("", "unix", False),
    ],
)
def test_failures_are_counted_for_the_network_of_an_ipv6_caller(one: str, two: str, same: bool) -> None:
    assert (network_of(one) == network_of(two)) is same
