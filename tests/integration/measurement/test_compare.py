"""``touchstone compare`` on real rows: two versions of real judgements, of which we know what must differ."""

import asyncio
import json
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluationReport
from schemas.export import example
from schemas.grounding import Claim
from schemas.identifiers import fact_id
from schemas.reports import Span
from schemas.review import ClaimVerdict, ReviewDecision
from tests.harness.command import bare_environment, run_command_as_text
from tests.harness.paths import ROOT
from workers.comparison.comparison_errors import UnknownRun
from workers.comparison.results import Comparison, findings
from workers.comparison.tallies import SCORES
from workers.decision.enrichment import enrich
from workers.evaluation.quality.characteristics import CHARACTERISTICS
from workers.inference.backends import SentenceTransformerBackend
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows
from workers.stores.clickhouse.rows.review_rows import decision_row
from workers.stores.queries.runs import comparison_queries as comparison_store
from workers.stores.queries.runs.comparison_queries import ComparisonStore, Wanted
from workers.stores.tables.review_tables import DecisionRow

REPORT = EvaluationReport.model_validate(example(EvaluationReport))
JUDGED, COPIES = 12, 5
ANSWERS = JUDGED * COPIES
AT = datetime(2026, 11, 1, 12, tzinfo=UTC)
QUOTES = "'\"\\\n{}"
"""In a model's name, which others choose and which is a parameter of the questions."""
STRICTER = 0.9
"""Least gate score in run b; 0.8 in live."""


@pytest.fixture(scope="module")
def judged(backend: SentenceTransformerBackend) -> tuple[list[EnrichedAnswer], list[EnrichedAnswer]]:
    """Examples, each under several names, as two versions judge them: the second one has a stricter gate."""
    lines = (ROOT / "examples" / "answers.jsonl").read_text().splitlines()[:JUDGED]
    settings = Settings(_env_file=None)
    pipeline = LocalPipeline(settings, backend)
    answers: list[EnrichedAnswer] = []
    for line in lines:
        once = pipeline.evaluate(
            GeneratedAnswer.model_validate({"completed_at": AT} | json.loads(line) | {"tenant": "acme"})
        )
        for copy in range(COPIES):
            named = {"answer_id": f"{once.answer_id}-{copy}"}
            answer = once.answer.model_copy(
                update=named
                | {"completed_at": AT + timedelta(hours=7 * len(answers)), "session_id": f"s-{len(answers) // 2}"}
            )
            answers.append(once.model_copy(update=named | {"answer": answer}))
    return (
        [decided(answer, settings, settings.gate.gate_score) for answer in answers],
        [decided(answer, settings, STRICTER).model_copy(update={"run": "b"}) for answer in answers],
    )


def decided(judged: EnrichedAnswer, settings: Settings, gate_score: float) -> EnrichedAnswer:
    """The answer with the decision of another gate; reports stay as they are."""
    assert judged.citations
    assert judged.grounding
    assert judged.quality
    return enrich(
        judged.answer, {"citations": judged.citations, "grounding": judged.grounding, "quality": judged.quality},
        partition=0, offset=0, now=judged.enriched_at, pipeline_version=f"gate-{gate_score}",
        default_risk_mode=settings.release.default_risk_mode,
        gate=settings.gate.model_copy(update={"gate_score": gate_score}), grounding_thresholds=settings.grounding,
        style=settings.release.style, remember_without_context=settings.memory.remember_without_context,
        policy=settings.decision,
    )  # fmt: skip


async def store_all(analytics: AnalyticsStore, enriched: Iterable[EnrichedAnswer]) -> None:
    await analytics.store(row for answer in enriched for row in enriched_rows(answer))


async def compared(analytics: AnalyticsStore, settings: Settings, **wanted: Any) -> Comparison:
    asked = Wanted(**({"a": "live", "b": "b"} | wanted))
    return await ComparisonStore(analytics, settings.clickhouse.database).compare(asked)


def touchstone(
    settings: Settings, addresses: Addresses, folder: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    environment = bare_environment() | {
        "CLICKHOUSE_URL": addresses.clickhouse,
        "TOUCHSTONE_CLICKHOUSE__DATABASE": settings.clickhouse.database,
        "COLUMNS": "200",
    }  # fmt: skip
    return run_command_as_text("compare", *arguments, folder=folder, environment=environment)


def scores_of(answer: EnrichedAnswer) -> dict[str, float | None]:
    grounding, quality, citations = answer.grounding, answer.quality, answer.citations
    assert grounding
    assert quality
    assert citations
    found = {
        name: getattr(grounding, name)
        for name in ("grounding_score", "risk_score", "context_similarity", "facts_verified")
    }
    found |= {"quality_score": quality.overall_score, "gate_score": answer.evaluation.score}
    found |= {"validation_score": quality.validation.score if quality.validation else None}
    return (
        found
        | {"citation_coverage": citations.coverage}
        | {n: answer.evaluation.metrics.get(n) for n in CHARACTERISTICS}
    )


async def test_exactly_the_answers_that_a_changed_threshold_must_move_are_found(
    analytics: AnalyticsStore, settings: Settings, judged: tuple[list[EnrichedAnswer], list[EnrichedAnswer]]
) -> None:
    live, replay = judged
    await store_all(analytics, [*live, *replay])
    found = await compared(analytics, settings, top=ANSWERS)
    must = {
        a.answer_id: (a.decision.state, b.decision.state)
        for a, b in zip(live, replay, strict=True)
        if (a.decision.state, a.decision.review, a.decision.reasons)
        != (b.decision.state, b.decision.review, b.decision.reasons)
    }
    assert 3 <= len(must) < ANSWERS, "the threshold must move some and not all"
    assert {answer.answer_id: answer.state for answer in found.answers} == must
    assert (found.pairs, found.moved()) == (ANSWERS, len(must))
    assert (found.a.alone, found.b.alone) == (0, 0)
    # Nothing but decisions depends on that threshold, and an answer is not all of its own change.
    figures = findings(found).figures
    assert {name: figures[f"{name}.difference"] for name in SCORES if figures[f"{name}.known"]} == {
        name: 0.0 for name in SCORES if figures[f"{name}.known"]
    }
    for state in ("released", "warned", "held", "fallback"):
        newly = sum(after == state != before for before, after in must.values())
        assert figures[f"newly_{state}"] == pytest.approx(newly / ANSWERS), state


async def test_sums_are_those_of_the_scores_themselves(
    analytics: AnalyticsStore, settings: Settings, judged: tuple[list[EnrichedAnswer], list[EnrichedAnswer]]
) -> None:
    """Other scores, nulls that come and go, rows that come twice, degraded ones, and answers of one run alone."""
    live, replay = judged
    moved = []
    for number, answer in enumerate(replay):
        assert answer.grounding
        before = answer.grounding.grounding_score
        after = None if number % 7 == 0 else 0.5 if before is None else before * 0.5
        moved.append(
            answer.model_copy(update={"grounding": answer.grounding.model_copy(update={"grounding_score": after})})
        )
    degraded = [answer.model_copy(update={"rank": 1, "quality": None}) for answer in moved[:5]]
    await store_all(analytics, [*live[:-2], *moved[3:], *degraded])
    await store_all(analytics, [*moved[:3], *moved[:5]])
    found = findings(await compared(analytics, settings))
    pairs = [(scores_of(a), scores_of(b)) for a, b in zip(live[:-2], moved[:-2], strict=True)]
    assert (found.comparison.pairs, found.comparison.a.alone, found.comparison.b.alone) == (ANSWERS - 2, 0, 2)
    for each in found.measures[: len(SCORES)]:
        both = [(a[each.measure], b[each.measure]) for a, b in pairs]
        known = np.array([pair for pair in both if None not in pair], dtype=float).reshape(-1, 2)
        assert each.known == len(known), each.measure
        assert each.became_null == sum(a is not None and b is None for a, b in both)
        assert each.no_longer_null == sum(a is None and b is not None for a, b in both)
        if len(known):
            assert [each.a, each.b] == pytest.approx(known.mean(axis=0).tolist())
            assert each.difference == pytest.approx((known[:, 1] - known[:, 0]).mean(), abs=1e-12)
            assert (each.up, each.down) == ((known[:, 1] > known[:, 0]).sum(), (known[:, 1] < known[:, 0]).sum())
    grounding = found.measures[0]
    assert grounding.difference is not None
    assert grounding.low is not None
    assert grounding.high is not None
    assert grounding.low < grounding.difference < grounding.high < 0
    assert found.comparison.distributions[0].sum() == grounding.known


async def test_slices_hold_their_own_pairs_and_find_the_model_that_moved(
    analytics: AnalyticsStore, settings: Settings, judged: tuple[list[EnrichedAnswer], list[EnrichedAnswer]]
) -> None:
    live, _ = judged

    def of(answer: EnrichedAnswer, run: str, number: int, lowered: float) -> EnrichedAnswer:
        name = f"model {number % 2}{QUOTES}"
        generated = answer.answer.model_copy(update={"model": answer.answer.model.model_copy(update={"id": name})})
        score = 0.8 - (number % 5) / 50 - (lowered if number % 2 else 0)
        evaluation = answer.evaluation.model_copy(update={"score": score})
        return answer.model_copy(update={"run": run, "answer": generated, "evaluation": evaluation})

    a = [of(answer, "live", number, 0.0) for number, answer in enumerate(live)]
    b = [of(answer, "b", number, 0.1 + number / 1_000) for number, answer in enumerate(live)]
    await store_all(analytics, [*a, *b])
    found = findings(await compared(analytics, settings, slices=("model", "source", "query_type")))
    assert {(each.dimension, each.value) for each in found.slices if each.moved and each.dimension == "model"} == {
        ("model", f"model 1{QUOTES}")
    }
    lowered = next(
        each for each in found.slices if each.value == f"model 1{QUOTES}" and each.difference.measure == "gate_score"
    )
    assert lowered.pairs == ANSWERS // 2
    assert lowered.difference.down == ANSWERS // 2
    sources: dict[str, int] = {}
    for answer in live:
        for name in {
            name for row in enriched_rows(answer) if row.table == "answers" for name in row.columns["source_names"]
        }:
            sources[name] = sources.get(name, 0) + 1
    assert {each.value: each.pairs for each in found.slices if each.dimension == "source"} == sources
    assert found.comparison.left_out == {"model": 0, "source": 0, "query_type": 0}


def said_of(answer: EnrichedAnswer, action: str, by: str = "first", **changes: Any) -> DecisionRow:
    decision = ReviewDecision.model_validate(
        {
            "feedback_id": f"d-{answer.answer_id}-{by}", "timestamp": AT, "original_answer": "x", "user_action": action,
            "review_id": fact_id(answer.tenant, answer.answer_id, "review"), "answer_id": answer.answer_id, "tenant": answer.tenant,
            "decided_by": by, "corrected_answer": "y" if action == "correct" else None,
        } | changes
    )  # fmt: skip
    return decision_row(decision, "final")


async def test_the_version_that_people_agree_with_more_often_is_told(
    analytics: AnalyticsStore, settings: Settings, judged: tuple[list[EnrichedAnswer], list[EnrichedAnswer]]
) -> None:
    live = [answer for answer in judged[0] if answer.grounding and answer.grounding.claims]
    people: list[DecisionRow] = []
    rewards: list[dict[str, Any]] = []
    stored: list[EnrichedAnswer] = []
    expected = {"claims": [0, 0, 0, 0], "decisions": [0, 0, 0, 0], "ratings": [0, 0, 0, 0]}
    for number, answer in enumerate(live):
        assert answer.grounding
        first, *rest = answer.grounding.claims
        right = number % 4 != 0
        a = first.model_copy(update={"verdict": "supported"})
        b = first.model_copy(update={"verdict": "contradicted" if right else "supported"})
        for run, claim, state in (("live", a, "released"), ("b", b, "held" if right else "released")):
            grounding = answer.grounding.model_copy(update={"claims": [claim, *rest]})
            decision = answer.decision.model_copy(update={"state": state})
            stored.append(answer.model_copy(update={"run": run, "grounding": grounding, "decision": decision}))
        place = 2 if right else 3
        if number % 3 == 0:
            # The person saw the claim refuted, and rejected the answer.
            verdicts = [
                ClaimVerdict(claim_id=first.claim_id, verdict="unsupported", span=Span(start=0, end=1)),
                ClaimVerdict(claim_id="nobody's", verdict="supported"),
            ]
            people.append(said_of(answer, "reject", claim_verdicts=verdicts))
            expected["claims"][place] += 1
            expected["decisions"][place] += 1
        elif number % 3 == 1:
            rewards.append(
                {"reward_id": answer.answer_id, "answer_id": answer.answer_id, "tenant": "acme", "model_id": "m",
                 "explicit_reward": 0.25, "reward": 0.25, "error_occurred": False, "retry_detected": False,
                 "revision": 1, "answered_at": AT.isoformat(), "computed_at": AT.isoformat()}
            )  # fmt: skip
            expected["ratings"][place] += 1
        else:
            people.append(said_of(answer, "reject", by="policy"))
            people.append(said_of(answer, "approve", with_warning=True))
    await store_all(analytics, stored)
    await analytics.store(people)
    # What a reviewer has decided is in its reward as well, and counts once.
    decided = {**rewards[0], "reward_id": live[0].answer_id, "answer_id": live[0].answer_id}
    await analytics.insert("rewards", [*rewards, decided])
    found = await compared(analytics, settings)
    counted = {each.of: [each.both, each.only_a, each.only_b, each.neither] for each in found.agreements}
    assert counted == expected
    assert expected["claims"][2] >= 6
    assert {each.verdict for each in found.agreements} == {"B is right more often"}


async def test_scores_of_evaluator_plugins_are_compared(
    analytics: AnalyticsStore, settings: Settings, judged: tuple[list[EnrichedAnswer], list[EnrichedAnswer]]
) -> None:
    def scored(answer: EnrichedAnswer, score: float | None) -> EnrichedAnswer:
        its = {"answer_id": answer.answer_id, "tenant": answer.tenant, "run": answer.run}
        report = REPORT.model_copy(update=its | {"completed_at": answer.answer.completed_at, "score": score})
        return answer.model_copy(update={"evaluations": {"tone": report}})

    live, replay = judged
    a = [scored(answer, None if number == 0 else 0.5) for number, answer in enumerate(live)]
    b = [scored(answer, 0.25 if number % 3 else 1.0) for number, answer in enumerate(replay)]
    await store_all(analytics, [*a, *b])
    told = {each.measure: each for each in findings(await compared(analytics, settings)).measures}
    tone = told["evaluations.tone.score"]
    up = len([number for number in range(1, ANSWERS) if number % 3 == 0])
    assert (tone.known, tone.up, tone.down, tone.no_longer_null) == (ANSWERS - 1, up, ANSWERS - 1 - up, 1)
    assert (tone.a, tone.b) == (0.5, pytest.approx((up + 0.25 * (ANSWERS - 1 - up)) / (ANSWERS - 1)))
    assert told["evaluations.tone.polite"].difference == 0


async def test_claims_that_a_later_judgement_no_longer_makes_are_not_shown(
    analytics: AnalyticsStore, settings: Settings, judged: tuple[list[EnrichedAnswer], list[EnrichedAnswer]]
) -> None:
    live = next(answer for answer in judged[0] if answer.grounding and len(answer.grounding.claims) > 1)
    assert live.grounding
    first = live.grounding.claims[0]
    doubted = first.model_copy(update={"verdict": "unsupported", "score": 0.2})

    def with_claims(claims: list[Claim], **changes: Any) -> EnrichedAnswer:
        assert live.grounding
        return live.model_copy(update=changes | {"grounding": live.grounding.model_copy(update={"claims": claims})})

    held = live.decision.model_copy(update={"state": "held"})
    await store_all(analytics, [live.model_copy(update={"pipeline_version": "old"})])
    await store_all(
        analytics, [with_claims([first], pipeline_version="new"), with_claims([doubted], run="b", decision=held)]
    )
    (changed,) = (await compared(analytics, settings)).answers
    assert changed.query == live.answer.query
    assert [(claim.start, claim.verdict_a, claim.verdict_b, claim.moved) for claim in changed.claims] == [
        (first.span.start, first.verdict, "unsupported", True)
    ]


async def test_how_much_is_read_at_once_changes_nothing_and_filters_choose(
    analytics: AnalyticsStore, settings: Settings, judged: tuple[list[EnrichedAnswer], list[EnrichedAnswer]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    live, replay = judged
    lowered = [
        answer.model_copy(update={"evaluation": answer.evaluation.model_copy(update={"score": number / ANSWERS})})
        for number, answer in enumerate(replay)
    ]
    await store_all(analytics, [*live, *lowered])
    at_once = await compared(analytics, settings, slices=("source",), top=ANSWERS)
    monkeypatch.setattr(comparison_store, "ROWS_AT_ONCE", 50)
    monkeypatch.setattr(comparison_store, "DETAILS_AT_ONCE", 25)
    monkeypatch.setattr(comparison_store, "MAX_VALUES", 2)
    in_parts = await compared(analytics, settings, slices=("source",), top=ANSWERS)
    assert in_parts.answers == at_once.answers
    assert all(answer.claims for answer in in_parts.answers if answer.answer_id.startswith(live[0].answer_id))
    assert len(in_parts.answers) > ANSWERS // 2
    whole, parts = findings(at_once), findings(in_parts)
    assert {**parts.figures, "slices_changed": None} == {**whole.figures, "slices_changed": None}
    assert in_parts.matrix("state") == at_once.matrix("state")
    assert (in_parts.distributions == at_once.distributions).all()
    assert len(in_parts.slices) == 2
    assert in_parts.left_out == {"source": len(at_once.slices) - 2}
    middle = live[ANSWERS // 2].answer.completed_at
    earlier, later = [await compared(analytics, settings, top=0, **{side: middle}) for side in ("until", "since")]
    assert (earlier.pairs, later.pairs) == (ANSWERS // 2, ANSWERS - ANSWERS // 2)
    assert (await compared(analytics, settings, top=0, tenant="acme")).pairs == ANSWERS
    assert (await compared(analytics, settings, top=0, tenant="other")).pairs == 0


async def test_a_run_that_is_compared_with_itself_differs_in_nothing(
    analytics: AnalyticsStore, settings: Settings, judged: tuple[list[EnrichedAnswer], list[EnrichedAnswer]]
) -> None:
    await store_all(analytics, judged[0])
    found = findings(await compared(analytics, settings, b="live", slices=("model", "source")))
    assert (found.comparison.pairs, found.comparison.moved(), found.comparison.answers) == (ANSWERS, 0, [])
    assert 20 <= np.count_nonzero(found.comparison.overall.pairs) <= ANSWERS // 2, "sessions of two fall apart"
    moves = {name: value for name, value in found.figures.items() if name.endswith((".difference", ".up", ".down"))}
    assert set(moves.values()) <= {0, None}
    assert not any(each.moved for each in found.slices)
    with pytest.raises(UnknownRun, match="choose one of: live"):
        await compared(analytics, settings, b="nobody")


async def test_the_command_tells_tables_json_and_a_page_and_ends_as_the_gates_say(
    analytics: AnalyticsStore, settings: Settings, addresses: Addresses, tmp_path: Path,
    judged: tuple[list[EnrichedAnswer], list[EnrichedAnswer]],
) -> None:  # fmt: skip
    live, replay = judged
    hostile = live[0].answer.model_copy(update={"answer_id": "hostile\x1b[2J", "query": "\x1b]0;owned\x07why?"})
    a = [*live, live[0].model_copy(update={"answer_id": hostile.answer_id, "answer": hostile})]
    held = live[0].decision.model_copy(update={"state": "rejected"})
    b = [*replay, a[-1].model_copy(update={"run": "b", "decision": held})]
    await store_all(analytics, [*a, *b])

    async def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(touchstone, settings, addresses, tmp_path, "live", *arguments)

    told, failed, nobody, nothing = await asyncio.gather(
        run("b", "--slice", "model", "--top", "80", "--fail-if", "grounding_score.difference < 0 and pairs > 5"),
        run("b", "--json", "--html", "report.html", "--fail-if", "state_changed > 0", "--fail-if", "ratings.b < 0.5"),
        run("nobody"),
        run("b", "--to", "2020-01-01"),
    )
    assert told.returncode == 0, told.stderr
    assert f"{ANSWERS + 1} answers evaluated by both" in told.stdout
    assert "gate passed" in told.stdout
    assert "\x1b" not in told.stdout
    assert "\x07" not in told.stdout
    assert "hostile\\x1b[2J" in told.stdout
    assert failed.returncode == 1
    assert "2 of 2 gates failed: state_changed > 0; ratings.b < 0.5 (cannot be evaluated)" in failed.stderr.replace(
        "\n", " "
    )
    document = json.loads(failed.stdout)
    assert [gate["holds"] for gate in document["gates"]] == [True, None]
    assert document["pairs"] == ANSWERS + 1
    assert (tmp_path / "report.html").stat().st_mode & 0o077 == 0
    assert (nobody.returncode, "choose one of: b, live" in nobody.stderr) == (2, True)
    assert (nothing.returncode, "have no answers in common" in nothing.stderr) == (1, True)
