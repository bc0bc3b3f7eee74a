"""Keep the passwords of the local services in the state directory, readable only by its owner."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from workers.local.errors import LocalServiceError

PROTECTED = ("redis", "clickhouse")
"""Services with a password. The broker of local mode has none."""

USER = "touchstone"
"""User name at the local ClickHouse server."""


def passwords_file(state_dir: Path) -> Path:
    """Return the path of the file with the passwords by service."""
    return state_dir / "passwords.json"


def read_passwords(state_dir: Path) -> dict[str, str]:
    """Return the passwords by service; empty if there are none yet."""
    try:
        content = json.loads(passwords_file(state_dir).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in content.items()} if isinstance(content, dict) else {}


def ensure_passwords(state_dir: Path) -> dict[str, str]:
    """Return the passwords by service, and choose those that are missing. Needs the lock of the directory.

    Raises:
        LocalServiceError: the file cannot be written.
    """
    known = read_passwords(state_dir)
    wanted = {name: known.get(name) or secrets.token_hex(24) for name in PROTECTED}
    path = passwords_file(state_dir)
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            json.dump(wanted, file, indent=2)
        draft.replace(path)
    except OSError as error:
        raise LocalServiceError(
            "services",
            f"passwords cannot be written to {path} ({error}).",
            "Set TOUCHSTONE_STATE_DIR to a writable folder.",
        ) from error
    return wanted
