"""Check that what readers get as a quotation of a source is the source's own text, and holds what the claim took from it."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from schemas.citations import CitationReport
from schemas.enriched import Decision
from schemas.grounding import GroundingReport
from workers.decision.reader_text.presentation import present
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

NOW = datetime(2026, 11, 2, 8, 14, 6, tzinfo=UTC)
REPORT: dict[str, Any] = {
    "judgement_id": "j", "answer_id": "a", "pipeline_version": "v", "answer_partition": 0, "answer_offset": 0,
    "judged_at": NOW,
}  # fmt: skip
_ENTRY = re.compile(r"^\[(\d+)\] .*?(?=^\[\d+\] |\Z)", re.MULTILINE | re.DOTALL)
_MARKS = re.compile(r"[\s*_`#>|\\\"]+|</?\w+>")


def report_on(answer: GeneratedAnswer) -> GroundingReport:
    findings = evaluate_grounding(prepare_grounding(answer), GroundingThresholds())
    return GroundingReport(**REPORT, agent="grounding", **findings.model_dump())


def answer_of(text: str, *contents: str, **fields: Any) -> GeneratedAnswer:
    contexts = [{"chunk_id": f"c{place}", "content": content} for place, content in enumerate(contents)]
    return GeneratedAnswer.model_validate({
        "answer_id": "a", "query": "What is it?", "answer": text, "contexts": contexts, "completed_at": NOW, **fields,
    })  # fmt: skip


def quoted_in_references(
    answer: GeneratedAnswer, report: GroundingReport, citations: CitationReport | None = None
) -> dict[int, str]:
    citations = citations or CitationReport(**REPORT, agent="citations", **find_citations(answer).model_dump())
    content = present(answer, citations, report, None, Decision(state="released")).content
    _, _, references = content.partition("## References")
    return {
        int(match[1]): line.strip().removeprefix("> ")
        for match in _ENTRY.finditer(references)
        for line in match[0].splitlines()
        if line.strip().startswith(">")
    }


def is_said(quote: str, source: str) -> bool:
    """Return true if all parts of a quote stand in a source; of a record its names and its values do."""
    bare = _bare(source)
    return all(_stands(part, bare) for part in quote.split("…") if _bare(part))


def _stands(part: str, bare: str) -> bool:
    fields = [piece for field in re.split(r"; ", part) for piece in field.split(": ", 1)]
    return _bare(part) in bare or all(
        _bare(piece) in bare or all(_bare(word) in bare for word in re.split(r"[\s,]+", piece)) for piece in fields
    )


def _bare(text: str) -> str:
    return _MARKS.sub("", text.replace("\\n", " ")).replace("-", "").casefold().rstrip(".;:, ")


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("The loss was 52 min / 60 * 3000 USD/h = 2600 USD.", "The loss was 2600 USD [1]."),
        ("The loan of $8 + 12$ books lasts XIV days.", "The loan lasts XIV days [1]."),
        ("The gate opens at ２２:００ and has code_of_the_front_gate as its name.", "The gate opens at 22:00 [1]."),
        ("Use f1rm3st setting 0x1F for the first valve.", "Use the setting 31 for the first valve [1]."),
    ],
)
def test_no_normalised_form_is_quoted(written: str, answer: str) -> None:
    content = written + " It was written by the foreman in March."
    given = answer_of(answer, content, "Another source is about rain.")
    report = report_on(given)
    quotes = [each.excerpt for claim in report.claims for each in claim.sources if each.number == 1]
    quotes += [claim.evidence.excerpt for claim in report.claims if claim.evidence]
    assert quotes
    assert set(quotes) == {written}
    assert all(is_said(each, content) for each in quoted_in_references(given, report).values())


def test_a_row_is_quoted_with_the_marks_and_titles_of_its_table() -> None:
    table = "| Tower | Height (m) | Lift |\n|---|---|---|\n| North | 324 | ✓ |\n| South | 198 | ✗ |\n"
    report = report_on(answer_of("The North tower is 324 m high [1].", table, "Another source is about rain."))
    assert "Height (m): 324; Lift: ✓" in next(each.excerpt for each in report.claims[0].sources if each.number == 1)


def test_the_sum_of_a_source_stands_in_a_calculation_as_it_is_written() -> None:
    given = answer_of(
        "The order costs 7300 EUR [1][2].", "The order has 60 * 120 EUR for parts.", "The order has 100 EUR for work."
    )
    (claim,) = report_on(given).claims
    assert [each.expression for each in claim.calculations] == ["(60 * 120) EUR + 100 EUR = 7300 EUR"]


def test_what_a_failed_call_lacks_is_not_quoted() -> None:
    given = answer_of("The weather service returned no result [1].", query="How warm is it in Porto?").model_dump()
    call = {"name": "get_weather", "arguments": {"city": "Porto"}, "status": "error"}
    given["contexts"] = [{"chunk_id": "c0", "content": "", "source_type": "tool", "tool": call}]
    answer = GeneratedAnswer.model_validate(given)
    report = report_on(answer)
    assert [claim.verdict for claim in report.claims] == ["supported"]
    assert quoted_in_references(answer, report) == {}


def test_a_reference_has_the_figure_that_the_claim_took_from_its_record() -> None:
    records = [
        f'{{"date": "2026-11-04", "asset_id": "grinder-{number}", "line": "finishing-2", "downtime_min": {minutes}, '
        f'"downtime_reason": "{reason}", "units_good": 1442, "units_scrap": 18, "oee_pct": 83.9, "shift_count": 3, "operator_group": "night"}}'
        for number, minutes, reason in ((5, 52, "coolant pump pressure low"), (3, 12, "wheel change"))
    ]
    given = answer_of("Grinder 5 stood still longest: 52 minutes [1]; grinder 3 lost only 12 minutes [2].", *records)
    quotes = quoted_in_references(given, report_on(given))
    assert "downtime min: 52" in quotes[1]
    assert "downtime min: 12" in quotes[2]


def test_a_reference_has_both_sentences_from_which_a_claim_took_its_figures() -> None:
    guide = "The fence of the northern pasture was built by the farmer and his son. It is 240 m long. It has stood since then."
    long = (
        guide + " Sheep are kept behind it." + " The weather in the hills is changeable, and the paths are steep." * 4
    )
    given = answer_of("The fence of the northern pasture, built by the farmer, is 240 m long [1].", long, "Rain fell.")
    assert "240 m" in quoted_in_references(given, report_on(given))[1]


def test_a_contradicted_claim_gets_no_citation() -> None:
    given = answer_of(
        "On 17 September the wear was 0.18 mm [1]. The guides were therefore replaced.",
        "Press 2: ram guide wear measured at 0.18 mm on 2026-09-17, limit 0.25 mm. Guides were greased, not replaced.",
        "Replace the spindle grease every 2,000 operating hours or every 6 months, whichever comes first; use grease type K2N-30.",
    )
    report = report_on(given)
    assert [claim.verdict for claim in report.claims] == ["supported", "contradicted"]
    assert report.claims[1].proposed_numbers == []
    assert report.conflicts == []
    assert "replaced." in present(given, None, report, None, Decision(state="released")).content
