"""Provide ``touchstone bench``, which measures one part of the system."""

import ast
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from workers.cli.output import console
from workers.errors import TouchstoneError

_FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"


def bench(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Benchmark to run; without it, all are listed.")] = None,
) -> None:
    """Run one benchmark and print the figures; `make bench` runs most of them.

    This needs a checkout with the development dependencies. Arguments after the name are passed to the
    benchmark; most accept `--help` and `--json FILE`.

    Examples:
      touchstone bench
      touchstone bench pipeline --json pipeline.json
      touchstone bench limit --answers 100
    """
    found = benchmarks(_FOLDER)
    if name is None:
        table = Table("name", "measures")
        for each, purpose in found.items():
            table.add_row(each, purpose)
        console.print(table)
        return
    if name not in found:
        raise TouchstoneError(f"there is no benchmark {name}; choose one of {', '.join(found)}")
    sys.path.insert(0, str(_FOLDER.parent))
    sys.argv = [f"touchstone bench {name}", *context.args]
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")


def benchmarks(folder: Path) -> Mapping[str, str]:
    """Return the benchmarks: the scripts of a folder, each with the first sentence of its docstring.

    Raises:
        TouchstoneError: the folder does not exist, as in an installed wheel.
    """
    if not folder.is_dir():
        raise TouchstoneError(
            "the benchmarks are part of a checkout of the repository; run the command there, after `make install`"
        )
    found = {}
    for path in sorted(folder.glob("[a-z]*.py")):
        text = path.read_text(encoding="utf-8")
        if '__name__ == "__main__"' in text and path.stem != "stubbed_worker":
            found[path.stem] = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    return found
