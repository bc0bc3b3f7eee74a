"""Provide ``touchstone demo``, which sends answers through the complete system and prints a summary."""

import asyncio
import json
import signal
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from workers.cli.operation.console_command import served_console
from workers.cli.operation.demo_files import DemoFiles, demo_files
from workers.cli.operation.local_command import create_topics
from workers.cli.operation.summary import print_summary
from workers.cli.output import console, errors, fail, read_settings, require_writable
from workers.errors import TouchstoneError
from workers.intake.chunk_ingest import ingest_chunks
from workers.intake.file_ingest import IngestObserver, ingest_file
from workers.local.services import LocalServices
from workers.measurement.evaluation_cost import evaluation_cpu
from workers.observability.logs import safe_text
from workers.runtime.evaluation_process import spawned_processes
from workers.settings import Settings
from workers.settings.addresses import Addresses, apply_local_defaults, local_addresses
from workers.stores.queries.runs.run_summary import RunSummary, count_done, summarise

WAIT_SECONDS = 600
"""Longest wait for the answers; a slow machine needs minutes."""


def demo(
    file: Annotated[Path | None, typer.Argument(help="File of answers as JSON lines; the examples by default.")] = None,
    summary_json: Annotated[Path | None, typer.Option(help="Also write the summary as JSON to this file.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="After the summary, serve the console until Ctrl-C.")] = False,
) -> None:
    """Start services and agents, send the examples, wait for all results, print a summary and stop.

    The console runs meanwhile. The results stay stored for `touchstone up`. The examples include conversations, a run of
    an agent, results of tools and a streamed answer; the summary names the kinds of answers.

    Exit code 0 if every answer is accounted for: ingested = enriched + dead-lettered.

    Examples:
      touchstone demo
      touchstone demo --keep
      touchstone demo --summary-json summary.json
    """
    settings = read_settings(quiet=True)
    require_writable(summary_json)
    files = demo_files(file)
    summary = uvloop.run(_run(settings, files, keep=keep))
    if not keep:
        if summary.ingested:
            summary.evaluation_cpu_ms = evaluation_cpu(settings, files.answers[0])
        print_summary(summary, console)
        console.print("browse the answers with: [bold]touchstone up[/]")
    if summary_json is not None:
        summary_json.write_text(json.dumps(summary.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if not summary.accounted_for:
        fail(
            f"{summary.ingested} ingested, but {summary.enriched} enriched and {summary.dead_lettered} "
            f"dead-lettered; read the logs in {settings.state_dir}/logs"
        )


async def _run(settings: Settings, files: DemoFiles, *, keep: bool) -> RunSummary:
    started = time.perf_counter()
    files.identifiers()  # before the services start, since it refuses files that are no answers
    if files.chunks is not None:
        settings = settings.model_copy(update={"streams": settings.streams.model_copy(update={"enabled": True})})
    async with AsyncExitStack() as stack:
        with errors.status("starting broker, Valkey, ClickHouse and all agents"):
            evaluation = await stack.enter_async_context(spawned_processes(settings))
            local = await stack.enter_async_context(LocalServices(settings.state_dir))
            addresses = local_addresses(local.addresses)
            settings = apply_local_defaults(settings, addresses)
            await create_topics(settings, addresses)
            # After the services: LanceDB warns about processes that are forked after its import.
            from workers.runtime.worker import complete_worker

            worker = complete_worker(settings, addresses, evaluation)
            stack.push_async_callback(worker.stop)
            await worker.start()
            running = await stack.enter_async_context(served_console(settings, addresses, worker))
        console.print(f"console: {running.link}", highlight=False, soft_wrap=True)
        ready, since = time.perf_counter(), datetime.now(UTC)
        identifiers = await send_files(settings, addresses, files)
        await _wait(worker, settings, addresses, identifiers, since)
        done = time.perf_counter()
        timings = {"start": ready - started, "evaluation": done - ready, "total": done - started}
        summary = await summarise(
            settings, addresses, identifiers, since=since,
            remembered=[turn["answer_id"] for turn in await worker.remembered()],
            kinds=files.kinds(), timings=timings, peak_bytes=worker.peak_bytes(),
        )  # fmt: skip
        summary.processes = worker.processes
        if keep:
            print_summary(summary, console)
            await _until_stopped(running.link)
        return summary


async def send_files(settings: Settings, addresses: Addresses, files: DemoFiles) -> list[str]:
    """Send the answers of the files, and return the identifiers of those that were sent.

    Rejected lines are reported, and the files in which they are kept.

    Raises:
        TouchstoneError: a file cannot be read, or the broker does not acknowledge.
    """
    rejected: set[tuple[Path, int]] = set()
    for path in files.answers:
        result = await ingest_file(settings, addresses, str(path), observer=_Rejected(path, rejected))
        if result.reject_file is not None:
            kept = f"{result.rejected} lines of {path} were rejected; they are in {result.reject_file}"
            errors.print(kept, highlight=False, markup=False, soft_wrap=True)
    if files.chunks is not None:
        await ingest_chunks(settings, addresses, files.chunks)
    return files.identifiers(rejected)


class _Rejected(IngestObserver):
    """Collect the places of rejected lines."""

    def __init__(self, path: Path, places: set[tuple[Path, int]]) -> None:
        self._path, self._places = path, places

    def rejected(self, number: int, reason: str) -> None:
        self._places.add((self._path, number))


async def _until_stopped(link: str) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    console.print(f"console: {link}; stop with Ctrl-C", highlight=False, soft_wrap=True)
    await stop.wait()


async def _wait(worker: Any, settings: Settings, addresses: Addresses, identifiers: list[str], since: datetime) -> None:
    """Wait until every answer is stored and all agents have caught up.

    Raises:
        TouchstoneError: an agent has failed, or the wait took longer than ``WAIT_SECONDS``.
    """
    from workers.stores.clickhouse.analytics_store import connect

    began = time.perf_counter()
    failed = asyncio.ensure_future(worker.wait_failed())
    client = await connect(settings.clickhouse, addresses.clickhouse)
    progress = Progress(
        SpinnerColumn(), TextColumn("evaluating answers"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=errors, disable=not errors.is_terminal,
    )  # fmt: skip
    try:
        with progress:
            task = progress.add_task("evaluation", total=len(identifiers))
            while True:
                stored, dead = await count_done(client, settings.clickhouse.database, identifiers, since)
                progress.update(task, completed=stored + dead)
                if stored + dead >= len(identifiers) and worker.caught_up():
                    return
                if failed.done():
                    raise TouchstoneError(f"an agent failed: {safe_text(failed.result())}")
                if time.perf_counter() - began > WAIT_SECONDS:
                    raise TouchstoneError(f"{stored} of {len(identifiers)} answers were stored after {WAIT_SECONDS} s")
                await asyncio.sleep(0.25)
    finally:
        failed.cancel()
        await client.close()
