"""Distinguish loopback addresses from others, and check addresses of receivers."""

from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator


def is_loopback(host: str) -> bool:
    """Return true if a listening address is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(url: str) -> str:
    """Return an address of HTTP whose host and port can be connected to.

    Raises:
        ValueError: the scheme, the host or the port is not valid. The message does not hold the address, because those
            of webhooks are secrets.
    """
    if not url.startswith(("https://", "http://")):
        raise ValueError("must begin with https:// or http://")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").removesuffix("."), parts.port
        # The resolver encodes a host in the same way, and refuses labels that are empty or too long.
        valid = bool(host.encode("idna")) and port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ValueError("has no valid host or port; use https://host/path or https://host:port/path")
    return url


HttpAddress = Annotated[str, AfterValidator(check_address)]
