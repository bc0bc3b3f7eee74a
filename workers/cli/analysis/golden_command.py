"""Provide ``touchstone golden``, which keeps answers whose evaluation must not change unnoticed."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track
from rich.text import Text

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import record_key
from workers.cli.output import console, errors, finite, print_json, printable, read_settings
from workers.gateways.answer_files import read_events
from workers.measurement.golden_answers import (
    TOLERANCE,
    GoldenAnswer,
    GoldenUnusable,
    change_lines,
    changes,
    judgement_of,
    read_golden,
    refuse_other_texts,
    write_golden,
)
from workers.pipeline.local_pipeline import LocalPipeline

app = typer.Typer(help="Keep answers whose evaluation must not change unnoticed.", no_args_is_help=True)

Golden = Annotated[Path, typer.Argument(help="File of golden answers.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def add(
    golden: Golden,
    answers: Annotated[list[str], typer.Argument(help="Files of answers; - for standard input.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="Reason for keeping the answers.")] = "",
    as_json: AsJson = False,
) -> None:
    """Evaluate answers and add them with their results; answers already in the file are evaluated again.

    An answer without an answer_id is named by its content. An answer whose identifier stands for another text, in the
    file or among those given, is refused.

    Adding an answer approves its result: read the output of `golden check` or `touchstone explain` first.

    Examples:
      touchstone golden add golden.jsonl answers.jsonl --reason "complaint of October"
      touchstone golden add golden.jsonl golden.jsonl
    """
    kept = {each.name: each for each in (read_golden(golden) if _has_content(golden) else [])}
    settings = read_settings(quiet=True)
    given = [answer for file in answers for answer in _answers(file, settings.files.max_line_bytes)]
    if not given:
        raise GoldenUnusable(f"no answers in {', '.join(answers)}; name files with answers")
    refuse_other_texts([*(each.answer for each in kept.values()), *given])
    pipeline = LocalPipeline(settings)
    for answer in track(given, "judging", console=errors, disable=as_json or not errors.is_terminal):
        before = kept.get(record_key(answer.tenant, answer.answer_id))
        why = reason or (before.reason if before else "")
        evaluated = GoldenAnswer(answer=answer, judgement=judgement_of(pipeline.evaluate(answer)), reason=why)
        kept[evaluated.name] = evaluated
    write_golden(golden, kept.values())
    if as_json:
        print_json({"added": len(given), "golden": len(kept)})
        return
    console.print(Text(f"{len(given)} evaluated, {len(kept)} in {printable(str(golden), keep='')}"))


@app.command()
def check(
    golden: Golden,
    tolerance: Annotated[
        float,
        typer.Option("--tolerance", min=0.0, max=1.0, callback=finite, help="Accepted difference of a score."),
    ] = TOLERANCE,
    as_json: AsJson = False,
) -> None:
    """Evaluate golden answers and print those with changed results; exit code 1 if there are any.

    Example: touchstone golden check golden.jsonl
    """
    kept = read_golden(golden)
    pipeline = LocalPipeline(read_settings(quiet=True))
    changed = {}
    for each in track(kept, "judging", console=errors, disable=as_json or not errors.is_terminal):
        found = changes(each.judgement, judgement_of(pipeline.evaluate(each.answer)), tolerance)
        if found:
            changed[each.name] = (each.reason, found)
    if as_json:
        print_json({"checked": len(kept), "changed": {name: found for name, (_, found) in changed.items()}})
    else:
        for name, (reason, found) in changed.items():
            console.print(Text(printable(name + (f" ({reason})" if reason else ""), keep=""), style="bold"))
            for line in change_lines(found):
                console.print(Text("  " + printable(line, keep="")), soft_wrap=True)
        console.print(Text(f"{len(kept) - len(changed)} of {len(kept)} are unchanged"))
    if changed:
        raise typer.Exit(1)


def _has_content(path: Path) -> bool:
    return path.exists() and (not path.is_file() or path.stat().st_size > 0)


def _answers(file: str, max_line_bytes: int) -> list[GeneratedAnswer]:
    """Return the answers of a file; a file of golden answers contains them too."""
    path = Path(file)
    if path.is_file():
        with path.open("rb") as source:
            is_golden = source.read(11) == b'{"answer":{'
        if is_golden:
            return [each.answer for each in read_golden(path)]
    events = read_events(file, max_line_bytes, by_content=True)
    return [event.answer if isinstance(event, EnrichedAnswer) else event for event in events]
