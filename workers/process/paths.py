"""Find files that belong to the package, in a checkout and in an installed wheel."""

from pathlib import Path

from workers.errors import TouchstoneError

_PACKAGE = Path(__file__).resolve().parent.parent


def deploy_directory() -> Path:
    """Return the folder ``deploy``: next to the package in a checkout, inside it in a wheel."""
    return _shipped("deploy")


def examples_directory() -> Path:
    """Return the folder ``examples``."""
    return _shipped("examples")


def _shipped(name: str) -> Path:
    for directory in (_PACKAGE.parent / name, _PACKAGE / "_shipped" / name):
        if directory.is_dir():
            return directory
    raise TouchstoneError(f"the folder {name} is missing from this installation; reinstall the package")
