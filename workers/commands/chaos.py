"""``touchstone chaos``: faults against real processes, to see the delivery promise kept."""

from pathlib import Path
from typing import Annotated

import typer

from workers.delivery.errors import TouchstoneError


def chaos(
    scenario: Annotated[str, typer.Option(help="Name of a scenario, or all.")] = "all",
    answers: Annotated[int, typer.Option(min=100, help="Answers a scenario.")] = 10_000,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to a file, too.")] = None,
) -> None:
    """Play fault scenarios on local services and hold the outcome against one oracle.

    Needs a checkout with its development dependencies. Exit code 0 if nothing was lost,
    doubled or made worse.

    Examples:
      touchstone chaos --scenario sigkill --answers 1000
      touchstone chaos --json chaos.json
    """
    try:
        from tests.chaos.driver import main
    except ImportError as error:
        raise TouchstoneError(
            "the scenarios are in the folder tests of a checkout; run this there, after `make install`"
        ) from error
    raise typer.Exit(main(scenario, answers, json_file))
