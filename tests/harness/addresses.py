"""Addresses of servers behind a proxy."""

from urllib.parse import urlsplit, urlunsplit


def with_port(url: str, port: int) -> str:
    """The same address, user and password included, at another port of loopback."""
    parts = urlsplit(url)
    login, at, _ = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{login}{at}127.0.0.1:{port}"))
