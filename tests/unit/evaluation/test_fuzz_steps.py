"""Any answer that is accepted is judged, enriched, stored and released, and what comes of it fits a record."""

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError

from schemas.answers import GeneratedAnswer
from schemas.base import Event
from schemas.citations import CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.grounding import GroundingReport
from schemas.quality import QualityReport
from schemas.reports import Findings, Report
from workers.decision.enrichment import enrich
from workers.decision.reader_text.reference_list import Style
from workers.decision.release_events import alerts, conversation_turn, released_answer, review_request
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.facts.evidence_units import segment_source
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.quality.quality_evaluator import evaluate_quality, prepare_quality
from workers.evaluation.text.structure.markers import find_markers
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds, QualityThresholds
from workers.evaluation.trimming import fit_record, fit_report
from workers.stores.clickhouse.rows.clickhouse_rows import alert_row, enriched_rows
from workers.stores.clickhouse.rows.review_rows import review_rows

NOW = datetime(2026, 11, 2, tzinfo=UTC)
MAX_RECORD = 1_000_000
"""The default of ``kafka.max_record_bytes``; input records may have a third of it."""
STYLES: tuple[Style, ...] = ("standard", "compact", "verbose")

FRAGMENTS = (
    *("# ", "- ", "* ", "1. ", "> ", "```\n", "```python\n", "~~~", "`", "``", "**", "_", "***\n", "---\n", "| a | b |\n|---|---|\n"),
    *("| 1 | 2 |\n", "\n", "\n\n", "    ", "\t", "\r\n", "\r", "\x00", "\x0b", "\x1b[0m", "\x7f", "\u2028", "\ufeff", "\u00ad"),
    *("[1]", "[0]", "[2]", "[1-200]", "[1, 2]", "[99999999999999999999]", "[^1]", "[^1]: x\n", "[Source: t/r1]", "[Source: ", "[Memory: m]"),
    *("[Evidence: cpu at 12:00]", "[AI Inference - x]", "【1】", "[x](http://a.b/c)", "http://a.b/c?d=(e)", "![i](x)", "[", "]", "(", ")"),
    *("Loki restarted at 14:03. ", "It fell by 30 % to 2 GiB. ", "It did not fall. ", "3.5e10 ", "1,234,567.89 ", "2026-02-30 ", "٣٫١٤ ", "½ "),
    *("maybe ", "I cannot help with that. ", "Error: x\n", "Note: y", "The sources do not say; but, ", "How? ", "Run `ls -l`. "),
    *("שלום עולם. ", "مرحبا ", "\u202eabc\u202c", "e\u0301\u0302\u0303", "👨\u200d👩\u200d👧", "🏳️\u200d🌈", "日本語です。", "ไทย", "ß", "ǆ", "İ"),
    *("a" * 300, "x." * 40, '"', "“", "„", "«", "'", "&amp;", "&#xD800;", "&#0;", "<b>", "<!--", "<script>", "\\", "$x$", "https://"),
    *('{"a": 1}', '{"a_b": "c d", "e": [1, null, "\\ud800"]}', '[{"k": {"l": []}}]', "a,b,c\n1,2,3\n", "a\tb\n1\t2\n", "{", "\\u0000"),
)  # fmt: skip
PIECES = st.lists(st.sampled_from(FRAGMENTS), min_size=6, max_size=40).map("".join)
TEXT = PIECES | PIECES | st.text(max_size=120)
SHORT = st.sampled_from(
    ("", "x", "Loki", "[1] **b**", "a\nb", "t", "r1", "http://a.b/c", "\u202e", "\x00", "日" * 60)
) | st.text(max_size=30)
NAMES = SHORT.filter(bool).map(lambda name: name[:200])
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2099, 12, 30)).map(lambda time: time.replace(tzinfo=UTC))

CHUNKS = st.fixed_dictionaries(
    {"chunk_id": NAMES, "content": TEXT},
    optional={
        "source_type": st.sampled_from(("document", "database", "memory", "calculation", "web")),
        "source_name": SHORT, "source_path": SHORT, "source_table": SHORT, "record_id": NAMES, "entity": SHORT,
        "last_updated": TIMES, "created_at": TIMES, "retrieval_score": st.floats(0, 1),
        "confidence": st.floats(0, 1) | st.sampled_from(("high", " LOW ")), "metadata": st.dictionaries(SHORT, SHORT, max_size=2),
    },
)  # fmt: skip
PROVIDED = st.fixed_dictionaries(
    {},
    optional={
        "chunk_id": NAMES, "number": st.integers(1, 10**12), "cited_text": SHORT,
        "start": st.integers(0, 200), "end": st.integers(0, 2**62),
    },
)  # fmt: skip
ANSWERS = st.fixed_dictionaries(
    {
        "answer_id": NAMES, "answer": TEXT, "completed_at": TIMES, "status": st.sampled_from(("success",) * 7 + ("error",)),
        "contexts": st.sampled_from((0, 1, 1, 2, 2, 3, 4)).flatmap(lambda n: st.lists(CHUNKS, min_size=n, max_size=n)),
    },
    optional={
        "query": TEXT, "citations": st.lists(PROVIDED, max_size=4),
        "query_type": SHORT, "risk_mode": st.sampled_from(("observer", "gatekeeper")), "error": SHORT,
        "requested_at": TIMES, "reference_answer": TEXT,
        "session_id": NAMES, "user_id": NAMES, "trace": st.fixed_dictionaries({"traceparent": SHORT}),
        "metadata": st.dictionaries(SHORT, SHORT, max_size=2), "x_unknown": SHORT,
    },
).map(GeneratedAnswer.model_validate)  # fmt: skip


def vector(text: str) -> NDArray[np.float32]:
    """A unit vector that depends on the text alone; it means nothing, and bounds must hold all the same."""
    digest = blake2b(text.encode(), digest_size=32).digest()
    values = np.frombuffer(digest, dtype=np.uint8).astype(np.float32) - 127.3
    return values / np.linalg.norm(values)


def findings(answer: GeneratedAnswer, vectors: Mapping[str, NDArray[np.float32]] | None = None) -> dict[str, Findings]:
    """What the three judges find; with one vector for all texts if ``vectors`` is given."""
    grounding, quality = prepare_grounding(answer), prepare_quality(answer)
    known = vectors if vectors is not None else {text: vector(text) for text in quality.texts}
    return {
        "citations": find_citations(answer),
        "grounding": evaluate_grounding(grounding, GroundingThresholds()),
        "quality": evaluate_quality(quality, known, QualityThresholds()),
    }


def reports(found: Mapping[str, Findings], answer: GeneratedAnswer, max_bytes: int = MAX_RECORD) -> dict[str, Report]:
    kinds: dict[str, type[Report]] = {
        "citations": CitationReport,
        "grounding": GroundingReport,
        "quality": QualityReport,
    }
    made = {}
    for agent, kind in kinds.items():
        report = kind(
            **dict(found[agent]), judgement_id="j", answer_id=answer.answer_id, tenant=answer.tenant, agent=agent,
            pipeline_version="1", answer_partition=0, answer_offset=0, judged_at=NOW,
        )  # fmt: skip
        made[agent], value = fit_report(report, max_bytes * 9 // 10)
        assert len(value) <= max_bytes * 9 // 10
        assert kind.from_bytes(value) == made[agent]
    return made


def enriched(answer: GeneratedAnswer, known: Mapping[str, Report], style: Style = "standard") -> EnrichedAnswer:
    return enrich(
        answer, known, partition=0, offset=0, now=NOW, pipeline_version="1", default_risk_mode="observer",
        gate=GateThresholds(), grounding_thresholds=GroundingThresholds(), style=style, remember_without_context=True,
    )  # fmt: skip


def outputs(result: EnrichedAnswer) -> list[Event]:
    """All that assembly and release send."""
    made: list[Event] = [*(row.record() for row in enriched_rows(result)), released_answer(result, NOW)]
    request = review_request(result, NOW, deadline_hours=24)
    if request is not None:
        made += [request, *(row.record() for row in review_rows(request))]
    for alert in alerts(result, NOW, GroundingThresholds()):
        made += [alert, alert_row(alert, result).record()]
    turn = conversation_turn(result)
    return [*made, turn] if turn is not None else made


def assert_sent(event: Event, max_bytes: int = MAX_RECORD) -> None:
    """Valid UTF-8 JSON that fits and reads back equal."""
    value = event.to_bytes()
    assert len(value) <= max_bytes
    json.loads(value.decode("utf-8"), parse_constant=lambda token: pytest.fail(f"{token} is no JSON"))
    assert type(event).from_bytes(value) == event


def floats(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        yield from chain.from_iterable(floats(part) for part in value.values())
    elif isinstance(value, list):
        yield from chain.from_iterable(floats(part) for part in value)


def scores(found: Findings) -> Iterator[float]:
    for name, value in found.model_dump().items():
        if name.endswith(("score", "coverage", "verified")) and value is not None:
            yield value
    if found.model_dump().get("metrics"):
        yield from (value for value in found.model_dump()["metrics"].values() if value is not None)


def assert_offsets(answer: GeneratedAnswer, found: Mapping[str, Any]) -> None:
    text, contexts = answer.answer, answer.contexts or []
    citations, grounding, quality = found["citations"], found["grounding"], found["quality"]
    for claim in grounding.claims:
        assert 0 <= claim.span.start < claim.span.end <= len(text)
        assert claim.text == text[claim.span.start : claim.span.end][:500]
        assert all(1 <= number <= len(contexts) for number in claim.cited_numbers)
        if claim.evidence is not None:
            chunk = contexts[claim.evidence.number - 1]
            assert chunk.chunk_id == claim.evidence.chunk_id
            assert 0 <= claim.evidence.span.start < claim.evidence.span.end <= len(chunk.content)
    for signal in quality.signals:
        if signal.span is not None:
            shown = text[signal.span.start : signal.span.end]
            assert signal.evidence == (shown if signal.type != "empty_response" else shown.strip())[:300]
    spans = [span for citation in citations.citations for span in citation.spans]
    spans += [*citations.inference_spans, *grounding.uncertainty_markers]
    spans += [reference.span for reference in citations.invalid_references if reference.span is not None]
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(1 <= citation.number <= len(contexts) for citation in citations.citations)


SUBSETS = [subset for size in range(4) for subset in combinations(("citations", "grounding", "quality"), size)]
FUZZ = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
FUZZ_RECORDS = settings(FUZZ, max_examples=40)
"""Number of examples for whole answers: each example passes every evaluator, and their results are written eight times."""


@FUZZ
@given(ANSWERS)
def test_every_answer_is_judged_within_bounds_and_the_same_again(answer: GeneratedAnswer) -> None:
    found = findings(answer)
    for judged in found.values():
        assert all(math.isfinite(value) for value in floats(judged.model_dump(mode="json")))
        assert all(0.0 <= value <= 1.0 for value in scores(judged))
    assert_offsets(answer, found)
    assert findings(GeneratedAnswer.from_bytes(answer.to_bytes())) == found


@FUZZ
@given(TEXT)
def test_sentences_markers_and_units_lie_where_they_say(text: str) -> None:
    sentences = segment(text)
    for sentence in sentences:
        assert text[sentence.start : sentence.end] == sentence.text
    for marker in find_markers(text, 2, sentences):
        assert text[marker.start : marker.end] == marker.text
    for unit in segment_source(text):
        assert 0 <= unit.start < unit.end <= len(text)
        unit.text.encode("utf-8")


@FUZZ_RECORDS
@given(ANSWERS, st.sampled_from(STYLES))
def test_whatever_reports_there_are_everything_that_follows_can_be_sent(answer: GeneratedAnswer, style: Style) -> None:
    known = reports(findings(answer), answer)
    for subset in SUBSETS:
        result, value = fit_record(enriched(answer, {agent: known[agent] for agent in subset}, style), MAX_RECORD)
        assert value == result.to_bytes()
        assert result.trimmed == []
        assert result.missing == [agent for agent in known if agent not in subset]
        for event in (result, *outputs(result)):
            assert_sent(event)


@FUZZ_RECORDS
@given(ANSWERS)
def test_any_result_fits_a_record_three_times_as_large_as_its_input(answer: GeneratedAnswer) -> None:
    """With a record so small that much must be left out."""
    answer = answer.model_copy(update={"answer": answer.answer * 20})
    limit = max(6_000, 3 * len(answer.model_dump_json(exclude_defaults=True).encode()))
    known = reports(findings(answer), answer, limit)
    whole = enriched(answer, known)
    result, value = fit_record(whole, limit)
    assert len(value) <= limit
    assert_honest(result, whole)
    for event in outputs(result):
        assert_sent(event, max(limit, 60_000))


def assert_honest(result: EnrichedAnswer, whole: EnrichedAnswer) -> None:
    """What differs from the whole is named, and nothing is named that does not differ."""
    same = result.model_copy(update={"trimmed": whole.trimmed}) == whole
    assert same == (set(result.trimmed) == set(whole.trimmed))
    assert result.evaluation.model_copy(update={"details": {}}) == whole.evaluation.model_copy(update={"details": {}})
    for kept in ("decision", "missing", "failed", "degraded", "rank", "risk_mode"):
        assert getattr(result, kept) == getattr(whole, kept)
    assert result.answer.answer == whole.answer.answer
    if whole.grounding is not None and result.grounding is not None:
        assert result.grounding.claims_total == whole.grounding.claims_total
        assert result.grounding.grounding_score == whole.grounding.grounding_score
        shorter = result.grounding.claims != whole.grounding.claims
        assert bool({"claims", "claim_sources"} & set(result.trimmed)) >= shorter
    assert ("formatted" in result.trimmed) == (result.formatted is None)


# ---- the worst that passes the limit on input records

WIDE = "\U0001f600"
LIMIT = MAX_RECORD // 3


def _chunks(count: int, **fields: str) -> list[dict[str, Any]]:
    return [{"chunk_id": f"c{number}", "content": "Loki restarts.", **fields} for number in range(count)]


WORST: dict[str, dict[str, Any]] = {
    "60,000 wide code points": {"answer": WIDE * 60_000, "contexts": _chunks(2)},
    "control characters": {"answer": "\x01" * 50_000, "contexts": _chunks(2)},
    "control characters and claims": {"answer": "\x01It is \x02 so. " * 500 + "\x01" * 45_000, "contexts": _chunks(2)},
    "400 long claims": {"answer": ("Loki " + WIDE * 130 + " fell. ") * 400, "contexts": _chunks(3, content=WIDE * 290 + " Loki fell.")},
    "400 claims that cite everything": {"answer": "Loki restarts again and again. [1-200] " * 450 + WIDE * 40_000, "contexts": _chunks(200)},
    "thousands of markers": {"answer": "a [1-200] " * 1_500 + WIDE * 40_000, "contexts": _chunks(200)},
    "markers of nothing": {"answer": "a [Source: " + WIDE * 40 + "]. " + "[999] " * 6_000, "contexts": _chunks(1)},
    "inferences": {"answer": "[AI inference] " * 4_000, "contexts": _chunks(1)},
    "hedges": {"answer": "maybe " * 10_000, "contexts": _chunks(1)},
    "signals": {"answer": (WIDE * 100 + " I might be wrong, probably and so on, hypothetically. ") * 200, "contexts": _chunks(1)},
    "refusals": {"answer": "I cannot help with that. " * 2_000, "contexts": _chunks(1)},
    "1,000 citations": {
        "answer": "Loki restarts. ", "contexts": _chunks(200),
        "citations": [{"number": number % 250 + 1, "start": 0, "end": 4} for number in range(1_000)],
    },
    "1,000 empty citations": {"answer": "Loki restarts. ", "contexts": _chunks(1), "citations": [{}] * 1_000},
    "1,000 quoted passages": {
        "answer": "Loki restarts. ", "contexts": _chunks(5), "citations": [{"cited_text": f"{n} " + "\x01" * 45} for n in range(1_000)],
    },
    "long names": {
        "answer": "[1-200]",
        "contexts": _chunks(200, record_id=WIDE * 50, source_type="memory", source_name=WIDE * 150, entity=WIDE * 20, content=WIDE * 60),
    },
    "names to escape": {"answer": "[1-200] " * 300, "contexts": _chunks(200, source_name="*" * 200, source_path="<" * 1_000)},
    "numbers that grow": {"answer": "Loki restarts.", "contexts": _chunks(2), "metadata": {"x": [1e15] * 63_000}},
    "numbers that grow in a chunk": {
        "answer": "Loki restarts.", "contexts": [{"chunk_id": "c", "content": "Loki", "metadata": {"x": [1e15] * 63_000}}],
    },
    "unknown fields that grow": {"answer": "Loki restarts. [1]", "contexts": _chunks(1), "x": [1e15] * 60_000},
    "200 empty contexts": {"answer": "[1] " * 10_000, "contexts": _chunks(200, content="")},
    "labels": {"answer": "Note: \x01\n\n" * 3_000, "contexts": _chunks(1)},
    "a long query": {"answer": WIDE * 40_000, "query": WIDE * 20_000, "contexts": _chunks(1), "error": WIDE * 2_000},
    "a whole JSON context": {"answer": "Loki restarts. " * 100, "contexts": [{"chunk_id": "c", "content": json.dumps([{"k": n} for n in range(6_000)])}]},
}  # fmt: skip


def compact(content: Mapping[str, Any]) -> bytes:
    """The shortest JSON: what can be written in few bytes is, numbers with an exponent too."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("1000000000000000.0", "1e15").encode()


class OneVector(dict[str, NDArray[np.float32]]):
    def __missing__(self, key: str) -> NDArray[np.float32]:
        return vector("x")


@pytest.mark.parametrize("case", WORST)
def test_the_worst_answers_fit(case: str) -> None:
    value = compact({"answer_id": "a", "completed_at": NOW.isoformat(), "risk_mode": "gatekeeper", **WORST[case]})
    assert len(value) <= LIMIT, f"{len(value)} bytes would not be accepted"
    answer = GeneratedAnswer.from_bytes(value)
    # The evaluators do not know the mode.
    known = reports(findings(answer, OneVector()), answer)
    for mode in ("observer", "gatekeeper"):
        whole = enriched(answer.model_copy(update={"risk_mode": mode}), known)
        result, written = fit_record(whole, MAX_RECORD - MAX_RECORD // 50)
        assert len(written) <= MAX_RECORD - MAX_RECORD // 50
        assert_honest(result, whole)
        for event in (result, *outputs(result)):
            assert_sent(event, MAX_RECORD - 10_000)


def test_what_grows_is_trimmed_before_what_is_judged() -> None:
    value = compact({"answer_id": "a", "completed_at": NOW.isoformat(), **WORST["numbers that grow"]})
    answer = GeneratedAnswer.from_bytes(value)
    result, _ = fit_record(enriched(answer, reports(findings(answer), answer)), MAX_RECORD)
    assert result.trimmed == ["free_fields"]
    assert result.answer.metadata == {}
    assert result.grounding is not None and result.grounding.claims


def test_a_trimmed_report_says_so_in_the_enriched_answer() -> None:
    answer = GeneratedAnswer(
        answer_id="a", answer="Loki restarts again. " * 300, contexts=_chunks(1), completed_at=NOW + timedelta(days=1)
    )
    known = reports(findings(answer), answer, 20_000)
    assert known["grounding"].trimmed == ["claim_sources", "claims"]
    result = enriched(answer, known)
    assert result.trimmed == ["claim_sources", "claims"]
    assert result.grounding is not None and result.grounding.claims_total == 300 > len(result.grounding.claims) > 0


def test_an_answer_whose_formatted_text_had_no_room_bears_its_disclaimer_all_the_same() -> None:
    """It is warned for its grounding, at low or unknown risk; the disclaimer is that of the decision."""
    text = "Loki was restarted by the operator at noon. " * 40
    answer = GeneratedAnswer(answer_id="a", answer=text, contexts=_chunks(1), completed_at=NOW)
    whole = enriched(answer, reports(findings(answer), answer))
    assert whole.decision.state == "warned" and whole.formatted is not None
    for grounding in (whole.grounding, None):
        trimmed = whole.model_copy(update={"formatted": None, "grounding": grounding})
        assert "> **" in (released_answer(trimmed, NOW).content or "")


def test_half_a_surrogate_pair_is_refused_in_text_and_replaced_in_json_sources() -> None:
    with pytest.raises(ValidationError):
        GeneratedAnswer(answer_id="a", answer="\ud800", completed_at=NOW)
    units = segment_source('{"\\udc00key": "the value \\ud800 is broken"}')
    assert [unit.text for unit in units] == ["\ufffdkey: the value \ufffd is broken"]
    long = segment_source(json.dumps({"k": "It is \ud800 so. " * 30}))
    for unit in long:
        unit.text.encode("utf-8")


def test_methods_and_earlier_answers_give_way_before_the_characteristics_themselves() -> None:
    answer = GeneratedAnswer(answer_id="a", answer="Loki restarts again.", contexts=_chunks(1), completed_at=NOW)
    whole = enriched(answer, reports(findings(answer), answer))
    result, _ = fit_record(whole, len(whole.model_copy(update={"formatted": None}).to_bytes()) - 100)
    assert result.trimmed == ["formatted", "evaluation_details"]
    assert result.evaluation.details == {}
    assert result.evaluation.metrics == whole.evaluation.metrics
