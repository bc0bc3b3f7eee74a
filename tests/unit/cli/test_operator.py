"""The record of a change names the account that made it."""

import os
import pwd

import pytest

from workers.cli.operator import operator


def test_the_environment_names_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    assert operator() == pwd.getpwuid(os.getuid()).pw_name != "somebody-else"


def test_an_account_without_a_name_has_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_001)
    assert operator() == "uid 4000000001"
