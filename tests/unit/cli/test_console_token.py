"""A token file of an earlier start does not stay where the console would refuse its token."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from workers.cli.operation.console_command import TOKEN_FILE, local_secret, remove_unknown_token
from workers.settings import AccessToken, ConsoleSettings, Settings
from workers.settings.sections.scopes import Scope


@pytest.mark.parametrize("configured", [True, False])
def test_the_token_of_an_earlier_start_is_removed_where_tokens_are_configured(tmp_path: Path, configured: bool) -> None:
    earlier = local_secret(tmp_path)
    token = AccessToken(name="anna", token=SecretStr("a-token-of-sixteen-letters"), scopes=frozenset(Scope))
    tokens = (token,) if configured else ()
    settings = Settings(_env_file=None, state_dir=tmp_path, console=ConsoleSettings(tokens=tokens))
    remove_unknown_token(settings)
    remove_unknown_token(settings)
    assert (tmp_path / TOKEN_FILE).exists() != configured
    assert configured or local_secret(tmp_path) == earlier
