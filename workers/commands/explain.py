"""``touchstone explain``: how a decision came about."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from schemas.answers import GeneratedAnswer
from workers.addresses import find_addresses
from workers.commands.judging import LocalJudge
from workers.commands.output import console, print_json, printable, read_settings
from workers.delivery.errors import TouchstoneError
from workers.gateways.files import read_events
from workers.settings import Settings
from workers.steps.explanation import Explanation, explain, explain_row
from workers.stores.analytics import connect

ROW = "SELECT * FROM {database}.answers FINAL WHERE answer_id = {{id:String}} ORDER BY enriched_at DESC LIMIT 1"


def explain_command(
    what: Annotated[str, typer.Argument(metavar="FILE|ANSWER_ID", help="A file of answers, - or an answer_id.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Explain how the decision on an answer came about.

    A file holds generated answers, which are judged here, or enriched ones; an answer_id is
    looked up in ClickHouse, which keeps scores and reasons but no methods and evidence.

    Examples:
      touchstone explain answers.jsonl
      touchstone explain demo-1 --json
    """
    settings = read_settings(quiet=True)
    is_file = what == "-" or Path(what).exists()
    found = _of_file(what, settings) if is_file else [asyncio.run(_of_store(what, settings))]
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return
    for each in found:
        _print(each)


def _of_file(file: str, settings: Settings) -> list[Explanation]:
    judge: LocalJudge | None = None
    explained = []
    for event in read_events(file):
        if isinstance(event, GeneratedAnswer):
            judge = judge or LocalJudge(settings)
            event = judge.judge(event)
        explained.append(explain(event, settings.gate, settings.grounding, settings.decision))
    if not explained:
        raise TouchstoneError(f"{file} holds no answer")
    return explained


async def _of_store(answer_id: str, settings: Settings) -> Explanation:
    client = await connect(settings.clickhouse, find_addresses(settings, ["clickhouse"]).clickhouse)
    try:
        statement = ROW.format(database=settings.clickhouse.database)
        result = await client.query(statement, parameters={"id": answer_id})
        rows: list[dict[str, Any]] = list(result.named_results())
    finally:
        await client.close()
    if not rows:
        raise TouchstoneError(f"{answer_id} is neither a file here nor an answer in ClickHouse")
    return explain_row(rows[0], settings.gate, settings.grounding, settings.decision)


def _print(explanation: Explanation) -> None:
    head = f"{explanation.answer_id}: {explanation.state}"
    if explanation.review:
        head += ", in review"
    console.print(Text(printable(head, keep="")), style="bold")
    because = ", ".join(explanation.reasons) or "no row of the policy applies"
    _line(f"{explanation.risk_mode}; because: {because}")
    if reasoning := explanation.gate.get("reasoning"):
        _line(reasoning)
    console.print(_rows(explanation))
    console.print(_characteristics(explanation))
    for signal in explanation.signals:
        weight = f" {signal['weight']:.2f}" if "weight" in signal else ""
        counted = "" if signal.get("counted", True) else " (counted once)"
        _line(f"signal {signal['type']}{weight}{counted}: {signal.get('evidence', '')}")
    if explanation.validation:
        _line(f"validator {explanation.validation['score']:.2f}: {explanation.validation['reason']}")


def _rows(explanation: Explanation) -> Table:
    table = Table("fact", "found", "held against", "applies", f"effect ({explanation.risk_mode})")
    for row in explanation.rows:
        effect = "not looked at" if row.effect is None else row.effect.state + (", review" if row.effect.review else "")
        cells = (row.fact, _shown(row.value), _shown(row.threshold), "yes" if row.applies else "no", effect)
        table.add_row(*(Text(printable(cell, keep="")) for cell in cells), style="bold" if row.decided else None)
    return table


def _characteristics(explanation: Explanation) -> Table:
    table = Table("characteristic", "score", "made of")
    for name, detail in explanation.characteristics.items():
        inputs = ", ".join(f"{key} {_shown(value)}" for key, value in detail.get("inputs", {}).items())
        made_of = detail.get("reason") or inputs or detail.get("method") or ""
        table.add_row(name, _shown(detail["score"]), Text(printable(made_of, keep="")))
    return table


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _line(text: str) -> None:
    console.print(Text(printable(text, keep="")))
