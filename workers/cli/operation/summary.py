"""Print the summary of a run as tables."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from workers.stores.queries.runs.run_summary import RunSummary

PROCESSES = {1: "one process", 2: "two processes"}


def print_summary(summary: RunSummary, console: Console) -> None:
    """Print a summary as tables."""
    counts = summary.counts
    table = Table("", "", show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    rows = {
        "answers": f"{summary.ingested} ingested = {summary.enriched} enriched + {summary.dead_lettered} dead-lettered"
        f" ({counts['degraded']} degraded)",
        "risk": f"{counts['low']} low, {counts['medium']} medium, {counts['high']} high, {counts['none']} without "
        "a risk",
        "grounding": f"mean {counts['grounding']}; {counts['claims']} claims, {counts['contradicted']} contradicted, "
        f"{counts['unsupported']} unsupported",
        "citations": f"{counts['invalid_citations']} answers with invalid references",
        "quality": f"mean {counts['quality']}, {counts['passing']} pass; gate score mean {counts['gate']}",
        "decisions": ", ".join(f"{count} {state}" for state, count in summary.states.items()),
        "review": f"{summary.reviews} in the queue",
        "memory": f"{summary.remembered} turns remembered",
        "cost": f"{summary.evaluation_cpu_ms:.0f} ms of CPU at the median to evaluate one answer"
        if summary.evaluation_cpu_ms is not None
        else "not measured",
        "time": f"start {summary.timings['start']:.1f} s, evaluation of all answers {summary.timings['evaluation']:.1f} s",
        "peak memory": f"{summary.peak_bytes / 1e6:.0f} MB (all agents in {PROCESSES.get(summary.processes, 'several processes')})",
    }
    for name, value in rows.items():
        table.add_row(f"[bold]{name}[/]", value)
        if name == "answers":
            for kind, names in summary.kinds.items():
                table.add_row("", f"{len(names)} {kind} ({escape(names[0])})")
    console.print(table, highlight=False)
    for number, offender in enumerate(summary.worst, start=1):
        console.print(f"\n[bold]worst answer {number}[/]  {escape(offender['query'])}", highlight=False)
        console.print(f"  [red]{offender['verdict']}[/]  {escape(offender['claim'])}", highlight=False)
        console.print(f"  evidence      {escape(offender['evidence']) or 'none'}", highlight=False)
