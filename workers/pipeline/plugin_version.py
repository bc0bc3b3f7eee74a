"""Compute the version of a plug-in: its distribution, and the digest of all files that it installs."""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path

from pydantic_core import to_json

from workers.pipeline.code_digest import digest_of_bytes, digest_of_code
from workers.process.plugins import Plugin, PluginError

DIGITS = 12
"""Hexadecimal digits of a digest."""


@cache
def plugin_version(plugin: Plugin) -> str:
    """Return distribution, version and digest of a plug-in, for example ``touchstone-tone@1.0@0123456789ab``.

    The digest covers every file of the distribution, so that a change in a helper module or a data file makes another
    version. It also covers the package that holds the plug-in, because an editable installation lists no files.

    Raises:
        PluginError: the module of the plug-in cannot be found.
    """
    found = {*_package_files(plugin), *_distribution_files(plugin.distribution)}
    return f"{plugin.distribution}@{plugin.version}@{_digest_of_files(found)[:DIGITS]}"


def _package_files(plugin: Plugin) -> Iterator[Path]:
    """Yield the files of the outermost package that holds the plug-in and is no namespace package."""
    parts = plugin.module.split(".")
    for length in range(1, len(parts) + 1):
        name = ".".join(parts[:length])
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            spec = None
        if spec is None:
            raise PluginError(
                f"the module {name} of the plug-in {plugin.name} is missing; install {plugin.distribution} again"
            )
        if spec.origin is not None:
            origin = Path(spec.origin)
            yield from _counted(origin.parent.rglob("*") if spec.submodule_search_locations else [origin])
            return


def _distribution_files(distribution: str) -> Iterator[Path]:
    try:
        listed = files(distribution) or ()
    except PackageNotFoundError:
        return
    # Files outside the folder of packages, such as commands, start the code and are not the code.
    yield from _counted(Path(each.locate()) for each in listed if ".." not in each.parts)


def _counted(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the paths that are code or data: no compiled copies, no metadata of the installation."""
    for path in paths:
        metadata = path.suffix == ".pth" or any(part.endswith(".dist-info") for part in path.parts)
        if path.suffix != ".pyc" and not metadata and path.is_file():
            yield path.resolve()


def _digest_of_files(paths: Iterable[Path]) -> str:
    sources, others = [], []
    for path in paths:
        content = path.read_bytes()
        try:
            if path.suffix == ".py":
                sources.append(digest_of_code([content.decode()]))
                continue
        except (SyntaxError, ValueError):
            pass  # a template, for example: it counts as data
        others.append((path.name, digest_of_bytes(content)))
    return digest_of_bytes(to_json([sorted(sources), sorted(others)]))
