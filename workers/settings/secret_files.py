"""Read secrets from files: ``TOUCHSTONE_CLICKHOUSE__PASSWORD_FILE`` names a file that holds the password.

Docker and Kubernetes mount secrets as files. A secret in the environment would be inherited by every child
process and written to crash reports. Only secret settings and ``REDIS_URL``, which contains a password, can be read from files.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, SettingsError

SUFFIX = "_file"
WITH_PASSWORD = ("redis_url", "touchstone_redis_url")
"""Variables of addresses that contain a password."""
MAX_SECRET = 10_000
"""Maximum length of a secret, characters; longer files are refused."""


class EnvironmentWithFiles(EnvSettingsSource):
    """The environment, with variables that name secret files replaced by the files' content."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return _with_files(super()._load_env_vars(), self.settings_cls)


class DotEnvWithFiles(DotEnvSettingsSource):
    """A file ``.env``, with variables that name secret files replaced by the files' content."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return _with_files(super()._load_env_vars(), self.settings_cls)


def _with_files(variables: Mapping[str, str | None], settings: type[BaseSettings]) -> Mapping[str, str | None]:
    found = dict(variables)
    for name in secret_names(settings):
        file = found.pop(name + SUFFIX, None)
        if file is None:
            continue
        if found.get(name):
            raise SettingsError(f"{name.upper()} and {(name + SUFFIX).upper()} are both set; leave one out")
        found[name] = _read(file, (name + SUFFIX).upper())
    return found


def secret_names(settings: type[BaseSettings]) -> list[str]:
    """Return the environment variables of all secret settings, in lower case."""
    prefix = settings.model_config.get("env_prefix", "").lower()
    delimiter = settings.model_config.get("env_nested_delimiter") or "__"
    return [*WITH_PASSWORD, *(prefix + delimiter.join(path) for path in _secrets(settings))]


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
        reason = error.strerror if isinstance(error, OSError) else "not valid UTF-8"
        raise SettingsError(f"{name}: {file} cannot be read: {reason}") from None
    if not content or len(content) > MAX_SECRET:
        raise SettingsError(f"{name}: {file} holds {'nothing' if not content else 'more than a secret'}")
    return content
