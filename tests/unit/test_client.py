"""The functions for programs that write answers: tokens from files, and replies that are not of the console."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from workers.client import Refused, check


class Console(HTTPServer):
    """A server that keeps the token of each request."""

    reply = json.dumps({"state": "released"}).encode()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.tokens: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Console)
        self.server.tokens.append(self.headers["Authorization"])
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.reply)))
        self.end_headers()
        self.wfile.write(self.server.reply)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def console() -> Iterator[Console]:
    with Console() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("token", ["secret", "secret\n", " secret\r\n"])
def test_a_token_from_a_file_is_sent_without_its_line_feed(console: Console, token: str) -> None:
    assert check({}, url=console.url, token=token)["state"] == "released"
    assert console.tokens == ["Bearer secret"]


@pytest.mark.parametrize("token", ["two\nlines", "two\r\nlines", "schlüssel", "a\x00b"])
def test_a_token_that_no_header_may_hold_is_refused_as_such(console: Console, token: str) -> None:
    with pytest.raises(ValueError, match="token must be one line") as caught:
        check({}, url=console.url, token=token)
    assert token not in str(caught.value)
    assert console.tokens == []


@pytest.mark.parametrize("reply", [b"<html>", b"", b"\xff"])
def test_a_reply_that_is_not_json_is_told_as_such(console: Console, reply: bytes) -> None:
    console.reply = reply
    with pytest.raises(Refused, match="the reply is not JSON"):
        check({}, url=console.url, token="secret")
