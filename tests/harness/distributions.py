"""Distributions that declare plug-ins, written into a folder as an installation leaves them."""

import importlib
from collections.abc import Mapping
from pathlib import Path


def write_distribution(
    folder: Path, name: str, entry_points: Mapping[str, Mapping[str, str]], modules: Mapping[str, str]
) -> None:
    """Write modules and metadata of a distribution.

    Args:
        folder: on the path of modules of whoever is to find it.
        name: of the distribution; its version is 1.0.
        entry_points: target by name by group.
        modules: source by path.
    """
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    declared = "".join(
        f"[{group}]\n" + "".join(f"{point} = {target}\n" for point, target in points.items())
        for group, points in entry_points.items()
    )
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(declared)
    for path, source in modules.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(source)
    (metadata / "RECORD").write_text("".join(f"{path},,\n" for path in modules))
    importlib.invalidate_caches()
