"""Runs scenarios and tells what came of them: a table for people, JSON for machines."""

import asyncio
import json
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

import tests.chaos.deployment_scenarios
import tests.chaos.fleet_scenarios
import tests.chaos.kafka_log_scenarios
import tests.chaos.kafka_scenarios
import tests.chaos.kafka_truncation_scenarios
import tests.chaos.quota_scenarios
import tests.chaos.scenarios  # noqa: F401  # they register their scenarios
from tests.chaos.oracle import Verdict, judge
from tests.chaos.registry import SCENARIOS, Scenario
from tests.chaos.run import STUBBED, Run, Skipped
from tests.chaos.standstill import Standstill
from tests.harness.deployment import Deployment
from workers.settings.addresses import Addresses, local_addresses


class ScenarioBroken(Exception):
    """A scenario did not come to its end; the text says how each worker stood."""


@dataclass(slots=True)
class Outcome:
    """One scenario's figures."""

    scenario: Scenario
    verdict: Verdict
    faults: int
    recovered_seconds: float
    total_seconds: float
    peak_bytes: int
    degraded_expected: int
    lost_expected: list[str]
    dead_letters_expected: int
    standstills: dict[str, Standstill]
    evaluation_stubbed: bool

    @property
    def passed(self) -> bool:
        verdict = self.verdict
        rest = verdict.doubled or verdict.worsened or verdict.broken_identifiers
        counts = (verdict.degraded, verdict.dead_lettered) == (self.degraded_expected, self.dead_letters_expected)
        return not rest and verdict.lost == self.lost_expected and counts

    def as_dict(self) -> dict[str, Any]:
        standstills = {group: asdict(each) for group, each in self.standstills.items()}
        return {
            "scenario": self.scenario.name,
            "faults": self.scenario.faults,
            "evaluation_stubbed": self.evaluation_stubbed,
            "faults_injected": self.faults,
            "recovered_seconds": round(self.recovered_seconds, 1),
            "total_seconds": round(self.total_seconds, 1),
            "peak_megabytes": round(self.peak_bytes / 1e6),
            "passed": self.passed,
            "lost_and_reported": len(self.lost_expected),
            **({"standstill_seconds": standstills} if standstills else {}),
            **self.verdict.as_dict(),
        }


async def play(
    scenario: Scenario,
    addresses: Addresses,
    directory: Path,
    answers: int,
    int8: Path | None = None,
    kills: int | None = None,
    fleet: int | None = None,
    stubbed: bool = False,
    tell: Callable[[str, int, int], None] | None = None,
) -> Outcome:
    """Run one scenario on a deployment of its own.

    Args:
        scenario: which.
        addresses: real servers.
        directory: for logs and state; it is there.
        answers: how many to send.
        int8: folder of the model in int8, for workers that run it; without, they run it in fp32.
        kills: processes to kill, where the scenario leaves the number open.
        fleet: workers to start, where the scenario leaves the number open.
        stubbed: whether evaluations are constant, for many answers in little time.
        tell: called as the scenario goes on.
    """
    deployment = Deployment(addresses, directory, int8=int8)
    # Silence on a starved machine is none of the faults; scenarios that want a deadline set their own.
    deployment.environment["TOUCHSTONE_DELIVERY__JOIN_DEADLINE_SECONDS"] = "300"
    await deployment.prepare()
    run = Run(deployment, answers, await deployment.client(), kills=kills, fleet=fleet)
    run.tell = tell or run.tell
    if stubbed:
        run.stub_evaluation()
    started = time.monotonic()
    try:
        await scenario.play(run)
        await run.until_quiet()
        verdict = await judge(deployment, run.client, run.sent, run.poison)
        verdict.notes += run.notes
        run.observe()
        return Outcome(
            scenario, verdict, run.faults, run.recovered_seconds, time.monotonic() - started, run.peak_bytes,
            run.expected_degraded, sorted(run.expected_lost), run.poison, run.standstills, run.module == STUBBED,
        )  # fmt: skip
    except (AssertionError, TimeoutError, RuntimeError) as error:
        states = [await worker.state() for worker in deployment.workers]
        raise ScenarioBroken("\n".join([f"{type(error).__name__}: {error}", *states])) from error
    finally:
        await run.close()


async def play_all(
    names: list[str],
    answers: int,
    console: Console,
    *,
    light_broker: bool,
    kills: int | None,
    fleet: int | None,
    stubbed: bool,
) -> tuple[list[Outcome], dict[str, str], dict[str, str]]:
    """Run scenarios one after the other on local services."""
    from workers.local.services import LocalServices

    outcomes: list[Outcome] = []
    skipped: dict[str, str] = {}
    broken: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="touchstone-chaos-") as folder:
        for name in names:
            # Services of its own: the embedded broker keeps its log in memory.
            async with LocalServices(Path(folder) / name / "services", light_broker=light_broker) as services:
                addresses = local_addresses(services.addresses)
                try:
                    with _shown(f"{name}: {SCENARIOS[name].faults}", console) as tell:
                        directory = Path(folder) / name
                        outcome = await play(
                            SCENARIOS[name],
                            addresses,
                            directory,
                            answers,
                            kills=kills,
                            fleet=fleet,
                            stubbed=stubbed,
                            tell=tell,
                        )
                except Skipped as reason:
                    console.print(f"[yellow]skipped[/]  {name}: {reason}", highlight=False)
                    skipped[name] = str(reason)
                    continue
                except ScenarioBroken as error:
                    console.print(f"[red]BROKEN[/]  {name}")
                    console.print(str(error), highlight=False, markup=False)
                    broken[name] = str(error).partition("\n")[0]
                    continue
            console.print(f"{'[green]kept[/]' if outcome.passed else '[red]BROKEN[/]'}  {name}", highlight=False)
            outcomes.append(outcome)
    return outcomes, skipped, broken


@contextmanager
def _shown(title: str, console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """Show that a scenario runs, and how far it is where it says so."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=None)

        def tell(what: str, done: int, of: int) -> None:
            progress.update(task, description=what, completed=done, total=of)

        yield tell


def show(outcomes: list[Outcome], console: Console) -> None:
    """The table of a run."""
    table = Table()
    for column in (
        "scenario",
        "faults",
        "recovered s",
        "lost",
        "doubled",
        "dead-lettered",
        "degraded",
        "repeated",
        "peak MB",
    ):
        table.add_column(column, justify="left" if column == "scenario" else "right")
    for outcome in outcomes:
        verdict = outcome.verdict
        table.add_row(
            outcome.scenario.name, str(outcome.faults), f"{outcome.recovered_seconds:.1f}", str(len(verdict.lost)),
            str(verdict.doubled), str(verdict.dead_lettered), str(verdict.degraded), str(verdict.duplicates),
            f"{outcome.peak_bytes / 1e6:.0f}",
        )  # fmt: skip
    console.print(table)
    for outcome in outcomes:
        standstills = [f"{group} wrote nothing for {each}" for group, each in outcome.standstills.items()]
        for note in (*outcome.verdict.notes, *standstills):
            console.print(f"{outcome.scenario.name}: {note}", highlight=False)


def main(
    scenario: str,
    answers: int,
    json_file: Path | None,
    *,
    light_broker: bool = True,
    kills: int | None = None,
    fleet: int | None = None,
    stubbed: bool = False,
) -> int:
    """Run one scenario or all.

    Returns:
        0 if every promise was kept, 1 if not, 2 for a name that does not exist.
    """
    console = Console()
    names = list(SCENARIOS) if scenario == "all" else [scenario]
    if unknown := [name for name in names if name not in SCENARIOS]:
        console.print(f"[red]error:[/] no scenario {unknown[0]}; there are {', '.join(SCENARIOS)}")
        return 2
    outcomes, skipped, broken = asyncio.run(
        play_all(names, answers, console, light_broker=light_broker, kills=kills, fleet=fleet, stubbed=stubbed)
    )
    show(outcomes, console)
    if json_file is not None:
        document = {
            "answers_a_scenario": answers,
            "broker": "light" if light_broker else "Apache Kafka",
            "machine": {"cores": len(_cores()), "system": platform.system(), "python": platform.python_version()},
            "driver_peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
            "skipped": skipped,
            "broken": broken,
            "scenarios": [outcome.as_dict() for outcome in outcomes],
        }
        json_file.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0 if not broken and all(outcome.passed for outcome in outcomes) else 1


def _cores() -> set[int]:
    import os

    return os.sched_getaffinity(0)
