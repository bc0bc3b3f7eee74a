"""Secrets from files: ``TOUCHSTONE_CLICKHOUSE__PASSWORD_FILE`` names a file that holds the password.

As Docker and Kubernetes mount them, so that no secret stands in an environment that every child and every
crash report inherits. Only settings that are secrets can be given so.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsError

SUFFIX = "_file"
MAX_SECRET = 10_000
"""Longest secret, characters: a longer file is not one."""


class EnvironmentWithFiles(EnvSettingsSource):
    """The environment, in which the variables of files are replaced by what the files hold."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        variables = dict(super()._load_env_vars())
        for name in secret_names(self.settings_cls):
            file = variables.pop(name + SUFFIX, None)
            if file is None:
                continue
            if variables.get(name):
                raise SettingsError(f"{name.upper()} and {(name + SUFFIX).upper()} are both set; leave one out")
            variables[name] = _read(file, (name + SUFFIX).upper())
        return variables


def secret_names(settings: type[BaseSettings]) -> list[str]:
    """The variables of all settings that are secrets, in lower case."""
    prefix = settings.model_config.get("env_prefix", "").lower()
    delimiter = settings.model_config.get("env_nested_delimiter") or "__"
    return [prefix + delimiter.join(path) for path in _secrets(settings)]


def _secrets(model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        optional = get_origin(field.annotation) in (Union, UnionType)
        for kind in get_args(field.annotation) if optional else (field.annotation,):
            if isinstance(kind, type) and issubclass(kind, SecretStr):
                yield (name,)
            elif isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from ((name, *path) for path in _secrets(kind))


def _read(file: str, name: str) -> str:
    try:
        with Path(file).open(encoding="utf-8") as stream:
            content = stream.read(MAX_SECRET + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise SettingsError(f"{name}: {file} cannot be read: {reason}") from None
    if not content or len(content) > MAX_SECRET:
        raise SettingsError(f"{name}: {file} holds {'nothing' if not content else 'more than a secret'}")
    return content
