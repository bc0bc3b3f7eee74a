"""``touchstone bench``: measure one part of the whole."""

import ast
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from workers.commands.output import console
from workers.delivery.errors import TouchstoneError

_FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def bench(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="What to measure; without it, all are listed.")] = None,
) -> None:
    """Measure one part and print it; `make bench` measures most of them.

    Needs a checkout with its development dependencies. What follows the name goes to the
    benchmark: most have `--help` and take `--json FILE`.

    Examples:
      touchstone bench
      touchstone bench pipeline --json pipeline.json
      touchstone bench limit --answers 100
    """
    found = benchmarks(_FOLDER)
    if name is None:
        table = Table("name", "what it measures")
        for each, purpose in found.items():
            table.add_row(each, purpose)
        console.print(table)
        return
    if name not in found:
        raise TouchstoneError(f"there is no benchmark {name}; there are {', '.join(found)}")
    sys.path.insert(0, str(_FOLDER.parent))
    sys.argv = [f"touchstone bench {name}", *context.args]
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")


def benchmarks(folder: Path) -> Mapping[str, str]:
    """What can be measured: the scripts of a folder, each with the first sentence of its docstring.

    Raises:
        TouchstoneError: the folder is not there, as in an installed wheel.
    """
    if not folder.is_dir():
        raise TouchstoneError(
            "the benchmarks are in a checkout of the repository; run this there, after `make install`"
        )
    found = {}
    for path in sorted(folder.glob("[a-z]*.py")):
        text = path.read_text(encoding="utf-8")
        if '__name__ == "__main__"' in text and path.stem != "stubbed_worker":
            found[path.stem] = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    return found
