"""Provide ``touchstone chaos``, which injects faults into real processes and checks at-least-once delivery."""

from pathlib import Path
from typing import Annotated

import typer

from workers.cli.operation.local_command import Broker, BrokerChoice
from workers.cli.output import require_writable
from workers.errors import TouchstoneError


def chaos(
    scenario: Annotated[str, typer.Option(help="Name of a scenario, or all.")] = "all",
    answers: Annotated[int, typer.Option(min=100, help="Number of answers per scenario.")] = 10_000,
    kills: Annotated[
        int | None,
        typer.Option(min=1, help="Number of processes that random_kills kills; by default one in 1,000 answers."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=2, help="Number of workers that rolling_deployment replaces; by default 2."),
    ] = None,
    stubbed: Annotated[
        bool, typer.Option("--stubbed", help="Evaluate with constants: delivery is tested with more answers a second.")
    ] = False,
    broker: BrokerChoice = Broker.LIGHT,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the figures to this file.")] = None,
) -> None:
    """Run fault scenarios on local services and compare the results with a run without faults.

    This needs a checkout with the development dependencies. Exit code 0 if no answer was lost,
    duplicated or evaluated differently.

    Examples:
      touchstone chaos --scenario sigkill --answers 1000
      touchstone chaos --json chaos.json
      KAFKA_HOME=/opt/kafka touchstone chaos --scenario broker_restart --broker kafka
      KAFKA_HOME=/opt/kafka touchstone chaos --scenario replicas_lost --answers 10000 --stubbed --broker kafka
      KAFKA_HOME=/opt/kafka touchstone chaos --scenario random_kills --answers 200000 --kills 200 --broker kafka
      KAFKA_HOME=/opt/kafka touchstone chaos --scenario rolling_deployment --workers 8 --broker kafka
    """
    require_writable(json_file)
    try:
        from tests.chaos.driver import main
    except ImportError as error:
        raise TouchstoneError(
            "the scenarios are in the folder tests of a checkout; run the command there, after `make install`"
        ) from error
    light_broker = broker is Broker.LIGHT
    raise typer.Exit(
        main(scenario, answers, json_file, light_broker=light_broker, kills=kills, fleet=workers, stubbed=stubbed)
    )
