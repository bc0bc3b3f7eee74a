"""``touchstone golden``: answers whose judgement must not change unnoticed."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track
from rich.text import Text

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from workers.commands.judging import LocalJudge
from workers.commands.output import console, errors, print_json, printable, read_settings
from workers.gateways.files import read_events
from workers.replay.golden import (
    TOLERANCE,
    GoldenAnswer,
    changes,
    judgement_of,
    read_golden,
    told,
    write_golden,
)

app = typer.Typer(help="Answers whose judgement must not change unnoticed.", no_args_is_help=True)

Golden = Annotated[Path, typer.Argument(help="File of golden answers.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def add(
    golden: Golden,
    answers: Annotated[list[str], typer.Argument(help="Files of answers; - for standard input.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="Why they are kept.")] = "",
    as_json: AsJson = False,
) -> None:
    """Judge answers and keep them with their judgement; one that is there already is judged anew.

    Adding is agreeing: look at what `golden check` or `touchstone explain` says first.

    Examples:
      touchstone golden add golden.jsonl answers.jsonl --reason "complaint of October"
      touchstone golden add golden.jsonl golden.jsonl
    """
    kept = {each.answer.answer_id: each for each in (read_golden(golden) if golden.exists() else [])}
    given = [answer for file in answers for answer in _answers(file)]
    judge = LocalJudge(read_settings(quiet=True))
    for answer in track(given, "judging", console=errors, disable=as_json or not errors.is_terminal):
        before = kept.get(answer.answer_id)
        why = reason or (before.reason if before else "")
        kept[answer.answer_id] = GoldenAnswer(answer=answer, judgement=judgement_of(judge.judge(answer)), reason=why)
    write_golden(golden, kept.values())
    if as_json:
        print_json({"added": len(given), "golden": len(kept)})
        return
    console.print(Text(f"{len(given)} judged, {len(kept)} in {printable(str(golden), keep='')}"))


@app.command()
def check(
    golden: Golden,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0.0, max=1.0, help="By which a score may differ.")
    ] = TOLERANCE,
    as_json: AsJson = False,
) -> None:
    """Judge golden answers and tell which are judged otherwise; exit code 1 if any is.

    Example: touchstone golden check golden.jsonl
    """
    kept = read_golden(golden)
    judge = LocalJudge(read_settings(quiet=True))
    changed = {}
    for each in track(kept, "judging", console=errors, disable=as_json or not errors.is_terminal):
        found = changes(each.judgement, judgement_of(judge.judge(each.answer)), tolerance)
        if found:
            changed[each.answer.answer_id] = (each.reason, found)
    if as_json:
        print_json({"checked": len(kept), "changed": {name: found for name, (_, found) in changed.items()}})
    else:
        for name, (reason, found) in changed.items():
            console.print(Text(printable(name + (f" ({reason})" if reason else ""), keep=""), style="bold"))
            for line in told(found):
                console.print(Text("  " + printable(line, keep="")), soft_wrap=True)
        console.print(Text(f"{len(kept) - len(changed)} of {len(kept)} are judged as before"))
    if changed:
        raise typer.Exit(1)


def _answers(file: str) -> list[GeneratedAnswer]:
    """Answers of a file; a file of golden ones gives theirs."""
    path = Path(file)
    if path.is_file() and path.read_bytes()[:11] == b'{"answer":{':
        return [each.answer for each in read_golden(path)]
    return [event.answer if isinstance(event, EnrichedAnswer) else event for event in read_events(file)]
