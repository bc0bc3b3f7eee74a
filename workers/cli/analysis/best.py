"""Provide ``touchstone best``, which orders several models' answers to one query by quality, with reasons."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from workers.cli.output import console, print_json, printable, read_settings
from workers.decision.reader_text.best_answer import Ranked, rank_answers
from workers.errors import TouchstoneError
from workers.gateways.answer_files import read_events
from workers.pipeline.local_pipeline import LocalPipeline


def best(
    file: Annotated[str, typer.Argument(help="Answers as JSON lines, plain or gzip; - for standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Order the answers of a file by quality, query by query, the best first.

    Examples:
      touchstone best answers.jsonl
      touchstone best answers.jsonl --json
    """
    settings = read_settings(quiet=True)
    pipeline: LocalPipeline | None = None
    by_query: dict[tuple[str, str], list[EnrichedAnswer]] = {}
    for event in read_events(file, settings.files.max_line_bytes):
        if isinstance(event, GeneratedAnswer):
            pipeline = pipeline or LocalPipeline(settings)
            event = pipeline.evaluate(event)
        by_query.setdefault((event.tenant, event.answer.query), []).append(event)
    if not by_query:
        raise TouchstoneError(f"{file} contains no answers")
    ranked = {query: rank_answers(answers) for query, answers in by_query.items()}
    if as_json:
        print_json(
            [
                {"tenant": tenant, "query": query, "best": found[0].answer_id, "answers": [r.model_dump() for r in found]}
                for (tenant, query), found in ranked.items()
            ]
        )  # fmt: skip
        return
    for (_, query), found in ranked.items():
        console.print(Text(printable(query, keep="") or "(no query)"), style="bold")
        console.print(_table(found))


def _table(found: list[Ranked]) -> Table:
    table = Table("rank", "answer", "model", "score", "gate", "validator", "because")
    for each in found:
        scores = (each.score, each.gate_score, each.validator_score)
        shown = ["-" if score is None else f"{score:.3f}" for score in scores]
        cells = (str(each.rank), each.answer_id, each.model, *shown, "; ".join(each.reasons))
        table.add_row(*(Text(printable(cell, keep="")) for cell in cells))
    return table
