"""Provide ``touchstone explain``, which shows the reasons of a decision."""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from schemas.answers import GeneratedAnswer
from workers.cli.output import console, print_json, printable, read_settings
from workers.console.presentation.views import explanation_of
from workers.decision.explained_claims import (
    ExplainedAnswer,
    ExplainedClaim,
    claims_of_report,
    claims_of_rows,
    with_claims,
)
from workers.decision.explanation import Explanation, explain
from workers.errors import TouchstoneError
from workers.gateways.adapted import bounded_identifier
from workers.gateways.answer_files import read_events
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings
from workers.settings.addresses import NotConfigured, find_addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.queries.answer_queries import AnswerStore, SeveralTenants

APPLIES = {True: "yes", False: "no", None: "not known"}
"""Words for a fact that applies, does not apply, or that a stored answer does not tell."""


def explain_command(
    what: Annotated[
        str, typer.Argument(metavar="FILE|ANSWER_ID", help="File of answers, - for standard input, or an answer_id.")
    ],
    tenant: Annotated[
        str, typer.Option("--tenant", help="Tenant of the answer; of a file, only its answers of this tenant.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Explain how the decision on an answer came about.

    A file contains generated answers, which are evaluated here, or enriched answers. An answer_id is
    looked up in ClickHouse, which stores claims, scores and reasons, but no methods and inputs.

    Examples:
      touchstone explain answers.jsonl
      touchstone explain demo-1 --json
    """
    settings = read_settings(quiet=True)
    # Print each answer of a file as soon as it is evaluated: a long file takes minutes.
    found = _of_file(what, tenant, settings) if _is_file(what) else [asyncio.run(_of_store(what, tenant, settings))]
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return
    for each in found:
        _print(each)


def _is_file(what: str) -> bool:
    try:
        return what == "-" or Path(what).exists()
    except OSError:
        return False  # an identifier may be longer than the name of a file


def _of_file(file: str, tenant: str, settings: Settings) -> Iterator[ExplainedAnswer]:
    pipeline: LocalPipeline | None = None
    count = 0
    for event in read_events(file, settings.files.max_line_bytes):
        if tenant and event.tenant != tenant:
            continue
        if isinstance(event, GeneratedAnswer):
            pipeline = pipeline or LocalPipeline(settings)
            event = pipeline.evaluate(event)
        explanation = explain(event, settings.gate, settings.grounding, settings.decision)
        count += 1
        yield with_claims(explanation, claims_of_report(event.grounding))
    if not count:
        raise TouchstoneError(f"{file} contains no answers{f' of tenant {tenant}' if tenant else ''}")


async def _of_store(answer_id: str, tenant: str, settings: Settings) -> ExplainedAnswer:
    try:
        address = find_addresses(settings, ["clickhouse"]).clickhouse
    except NotConfigured as error:
        raise NotConfigured(
            f"{answer_id} is no file here, and as an answer_id it cannot be looked up: {error}"
        ) from error
    client = await connect(settings.clickhouse, address)
    database, answer_id_there = settings.clickhouse.database, bounded_identifier(answer_id)
    answers = AnswerStore(AnalyticsStore(client, database), database)
    try:
        stored = await answers.answer([tenant] if tenant else [], answer_id_there)
    except SeveralTenants as error:
        raise TouchstoneError(f"{error} with --tenant") from None
    finally:
        await client.close()
    if stored is None:
        raise TouchstoneError(
            f"{answer_id} is neither a file here nor an answer in ClickHouse; a new answer may not be stored yet"
        )
    return with_claims(explanation_of(stored, settings), claims_of_rows(stored.claims))


def _print(explanation: ExplainedAnswer) -> None:
    head = f"{explanation.answer_id}: {explanation.state}"
    if explanation.review and explanation.outcome is None and explanation.withdrawal is None:
        head += ", in review"
    console.print(Text(printable(head, keep="")), style="bold")
    if withdrawal := explanation.withdrawal:
        given = f": {withdrawal.reason}" if withdrawal.reason else ""
        _line(f"withdrawn from readers (by {withdrawal.by}, {withdrawal.at:%Y-%m-%d %H:%M} UTC){given}")
    if outcome := explanation.outcome:
        given = f": {outcome.reason}" if outcome.reason else ""
        when = f"{outcome.decided_at:%Y-%m-%d %H:%M}"
        _line(f"{outcome.state} after the review ({outcome.action} by {outcome.decided_by}, {when} UTC){given}")
    because = ", ".join(explanation.reasons) or "no row of the policy applies"
    _line(f"{explanation.risk_mode}; because: {because}")
    if reasoning := explanation.gate.get("reasoning"):
        _line(reasoning)
    for claim in explanation.claims:
        _claim(claim)
    console.print(_rows(explanation))
    console.print(_characteristics(explanation))
    for signal in explanation.signals:
        weight = f" {signal['weight']:.2f}" if "weight" in signal else ""
        counted = "" if signal.get("counted", True) else " (counted once)"
        _line(f"signal {signal['type']}{weight}{counted}: {signal.get('evidence', '')}")
    for each in explanation.evaluations:
        further = "".join(f", {name} {_shown(value)}" for name, value in each.scores.items())
        because = each.reason or each.explanation or ""
        _line(f"evaluator {each.evaluator} {_shown(each.score)}{further} ({each.status}): {because}")
    if explanation.validation:
        _line(f"validator {explanation.validation['score']:.2f}: {explanation.validation['reason']}")


def _claim(claim: ExplainedClaim) -> None:
    verdict = claim.verdict if claim.kind == "factual" else f"{claim.verdict} {claim.kind}"
    mismatches = f" ({', '.join(claim.mismatches)})" if claim.mismatches else ""
    score = "" if claim.score is None else f" {claim.score:.2f}"
    _line(f"{verdict}{score}{mismatches}: {claim.text}")
    if claim.evidence:
        nearest = "" if claim.verdict in ("supported", "contradicted") else "nearest: "
        _line(f"    {nearest}{claim.chunk_id}: {claim.evidence}")


def _table(names: Iterable[str], head: str, *others: str) -> Table:
    # People search for names, so a narrow terminal folds the other columns and leaves the names whole.
    width = max(map(len, names), default=0)
    return Table(Column(head, min_width=width, no_wrap=True), *(Column(each, overflow="fold") for each in others))


def _rows(explanation: Explanation) -> Table:
    table = _table(
        (row.fact for row in explanation.rows),
        *("fact", "value", "compared with", "applies", f"effect ({explanation.risk_mode})"),
    )
    for row in explanation.rows:
        effect = "none" if row.effect is None else row.effect.state + (", review" if row.effect.review else "")
        cells = (row.fact, _shown(row.value), _shown(row.threshold), APPLIES[row.applies], effect)
        table.add_row(*(Text(printable(cell, keep="")) for cell in cells), style="bold" if row.decided else None)
    return table


def _characteristics(explanation: Explanation) -> Table:
    table = _table(explanation.characteristics, "characteristic", "score", "components")
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
