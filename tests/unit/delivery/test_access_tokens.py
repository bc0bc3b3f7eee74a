"""Access tokens from files and commands."""

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.harness import secured_kafka
from tests.harness.secured_kafka import unsigned_token
from workers.delivery import access_tokens
from workers.delivery.access_tokens import AccessTokens, TokenUnavailable


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [time.time()]
    start, monotonic = now[0], time.monotonic()
    clocks = SimpleNamespace(time=lambda: now[0], monotonic=lambda: monotonic + now[0] - start)
    # Those of the module and of the tokens alone: the event loop needs the real ones.
    monkeypatch.setattr(access_tokens, "time", clocks)
    monkeypatch.setattr(secured_kafka, "time", clocks)
    return now


def printing(file: Path) -> str:
    """Return a command that prints a file and counts its calls."""
    script = file.with_name("script.sh")
    script.write_text(f"echo call >> '{file}.calls'\ncat '{file}'\n")
    return f"sh '{script}'"


def calls(file: Path) -> int:
    return len(Path(f"{file}.calls").read_text().splitlines())


async def test_a_file_is_read_for_every_connection(tmp_path: Path) -> None:
    file = tmp_path / "token"
    tokens = AccessTokens(file, None)
    for text in ("first", "second\n"):
        file.write_text(text)
        assert await tokens.token() == text.strip()


async def test_a_command_runs_again_before_its_token_expires(tmp_path: Path, clock: list[float]) -> None:
    file = tmp_path / "a token"
    file.write_text(first := unsigned_token("a", 100))
    tokens = AccessTokens(None, printing(file))
    assert [await tokens.token() for _ in range(3)] == [first] * 3
    clock[0] += 75
    assert await tokens.token() == first
    assert calls(file) == 1
    file.write_text(second := unsigned_token("b", 300))
    clock[0] += 10
    assert await tokens.token() == second
    assert calls(file) == 2


async def test_a_token_without_expiry_is_kept_a_while(tmp_path: Path, clock: list[float]) -> None:
    file = tmp_path / "token"
    tokens = AccessTokens(None, printing(file))
    for text in ("opaque", "a.b.c", "x.eyJleHAiOiAibmV2ZXIifQ.y"):
        file.write_text(text)
        assert await tokens.token() == text
        assert await tokens.token() == text
        clock[0] += access_tokens.OPAQUE_SECONDS
    assert calls(file) == 3


async def test_a_step_back_of_the_wall_clock_lengthens_no_opaque_token(
    tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("first")
    tokens = AccessTokens(None, printing(file))
    assert await tokens.token() == "first"
    wall = clock[0] - 3_600
    monkeypatch.setattr(access_tokens.time, "time", lambda: wall)
    clock[0] += access_tokens.OPAQUE_SECONDS
    file.write_text("second")
    assert await tokens.token() == "second"
    file.write_text(later := unsigned_token("a", 100))
    clock[0] += access_tokens.OPAQUE_SECONDS
    assert await tokens.token() == later, "a token with an expiry may follow one without"


async def test_a_failed_renewal_keeps_the_token_while_it_is_valid(tmp_path: Path, clock: list[float]) -> None:
    file = tmp_path / "token"
    file.write_text(first := unsigned_token("a", 100))
    tokens = AccessTokens(None, printing(file))
    assert await tokens.token() == first
    file.unlink()
    clock[0] += 90
    assert await tokens.token() == first
    clock[0] += 10
    with pytest.raises(TokenUnavailable, match="sh ended with 1 instead of a token; run it by hand"):
        await tokens.token()
    file.write_text(second := unsigned_token("b", 500))
    assert await tokens.token() == second


@pytest.mark.parametrize("text", ["", " \n", "secret one\nsecret two", "secr\u00e9t", "secret\x01part", "s" * 200_000])
async def test_what_is_no_token_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    for tokens in (AccessTokens(file, None), AccessTokens(None, f"cat '{file}'")):
        with pytest.raises(TokenUnavailable, match="holds no token") as caught:
            await tokens.token()
        assert "secr" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "command", "told"),
    [
        (Path("absent"), None, "absent cannot be read: No such file or directory"),
        (Path(), None, r"\. cannot be read: Is a directory"),
        (None, "absent-program --now", "absent-program cannot run: No such file or directory"),
        (None, f"{sys.executable} -c 'print(\"secret\"); raise SystemExit(3)'", "ended with 3 instead of a token"),
    ],
)
async def test_a_missing_token_names_its_source(file: Path | None, command: str | None, told: str) -> None:
    with pytest.raises(TokenUnavailable, match=told) as caught:
        await AccessTokens(file, command).token()
    assert "secret" not in str(caught.value)


async def test_a_command_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_tokens, "COMMAND_SECONDS", 0.2)
    with pytest.raises(TokenUnavailable, match=r"sleep printed no token within 0\.2 s"):
        await AccessTokens(None, "sleep 60").token()
