"""Distinguish loopback addresses from others."""

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Return true if a listening address is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
