"""Check that JSON printed by commands controls no terminal, and keeps its content."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from workers.cli.main import app
from workers.cli.output import print_json
from workers.observability.printable import HOSTILE, printable_json

TEXTS = [
    "\x1b]0;title\x07\x1b[2J", "\x9b31mred", "\x85next line", "\u202eright to left", "\u2028", "\ud800", "\x7f", "\U000e0041",
    "व\u200dे \U0001f469\u200d\U0001f52c", "Grüße, 保証, \"quotes\" and \\ and \t",
]  # fmt: skip


def hostile(text: str) -> set[str]:
    from unicodedata import category

    return {each for each in text if category(each) in HOSTILE and each not in "\n\u200c\u200d"}


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_json_for_a_terminal_has_the_same_content_and_no_control_characters(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    value: Any = {"key " + text: [text, 1]}
    print_json(value)
    printed = capsys.readouterr().out
    assert not hostile(printed)
    assert json.loads(printed) == value
    assert printable_json(json.dumps("Grüße, 保証")) == '"Gr\\u00fc\\u00dfe, \\u4fdd\\u8a3c"'
    assert printable_json('"Grüße, 保証"') == '"Grüße, 保証"'


def test_adapted_answers_control_no_terminal(tmp_path: Path) -> None:
    text = "Said \x9b2J and \u202e done."
    (tmp_path / "given.json").write_text(json.dumps({"answer": text}))
    done = CliRunner().invoke(app, ["adapt", "--format", "touchstone", str(tmp_path / "given.json")])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["answer"] == text
    assert not hostile(done.stdout)
