"""Where files that belong to the package lie, in a checkout and in an installed wheel."""

from pathlib import Path

from workers.delivery.errors import TouchstoneError

_PACKAGE = Path(__file__).resolve().parent


def deploy_directory() -> Path:
    """The folder ``deploy``: beside the package in a checkout, inside it in a wheel."""
    return _shipped("deploy")


def examples_directory() -> Path:
    """The folder ``examples``."""
    return _shipped("examples")


def _shipped(name: str) -> Path:
    for directory in (_PACKAGE.parent / name, _PACKAGE / "_shipped" / name):
        if directory.is_dir():
            return directory
    raise TouchstoneError(f"the folder {name} is missing from this installation; reinstall the package")
