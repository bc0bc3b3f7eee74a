"""Evaluate claims against the results of tools, beside the comparison of words.

The results decide where a claim has details of theirs (``workers.evaluation.tools.tool_claims``). A call that failed is
no evidence: a claim that rests on it alone is contradicted, unless it admits the failure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from schemas.answers import ContextChunk, GeneratedAnswer
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.grounding.sources.admissions import FailedCalls, read_failed_calls
from workers.evaluation.grounding.sources.evidence import MAX_TEXT, EvidenceUnit
from workers.evaluation.grounding.support import MeasuredClaim
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.text.wording import plain_text
from workers.evaluation.text.words import content_words
from workers.evaluation.tools.results.tool_failures import Failure, failures_of
from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.results.tool_tables import read_tables
from workers.evaluation.tools.tool_claims import ToolFinding, check_claim
from workers.evaluation.tools.tool_lists import disordered

VALUE_WORDS = 4
"""Most words of a value alone."""


@dataclass(frozen=True, slots=True)
class ToolEvidence:
    """Hold the results of an answer's tools.

    Attributes:
        question: the question of the answer.
        results: the results of all tools.
        by_number: the results of each tool alone, by number of the context.
        failed: the calls that failed or found nothing.
        admitted: those that the answer admits.
        has_others: whether other contexts than failed calls are evidence.
    """

    question: str
    results: ToolResults
    by_number: dict[int, ToolResults]
    failed: FailedCalls = field(default_factory=FailedCalls)
    admitted: frozenset[Failure] = frozenset()
    has_others: bool = True

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Return the calls that failed or found nothing."""
        return self.failed.failures

    @property
    def hidden_failures(self) -> tuple[Failure, ...]:
        """Return the failures that the answer does not admit."""
        return tuple(each for each in self.failures if each not in self.admitted)


def read_tools(answer: GeneratedAnswer) -> ToolEvidence | None:
    """Return the results of an answer's tools; ``None`` without any."""
    contexts = answer.contexts or []
    if not any(chunk.source_type == "tool" for chunk in contexts):
        return None
    failures = failures_of(contexts)
    failed = {each.number for each in failures}
    tools = {number: chunk for number, chunk in enumerate(contexts, 1) if chunk.source_type == "tool"}
    documents = [chunk.content for chunk in contexts if chunk.source_type != "tool"]
    times = [
        f"{chunk.tool.called_at:%Y-%m-%dT%H:%M}" for chunk in tools.values() if chunk.tool and chunk.tool.called_at
    ]
    told = [answer.query, *times, *(chunk.content for number, chunk in tools.items() if number in failed)]
    arguments = {number: chunk.tool.arguments for number, chunk in tools.items() if chunk.tool and chunk.tool.arguments}
    fitting = [chunk.content for number, chunk in tools.items() if number not in failed]
    calls = read_failed_calls(answer.query, contexts, failures)
    sentences = [plain_text(sentence.text) for sentence in segment(answer.answer)] if failures else []
    return ToolEvidence(
        question=answer.query,
        results=ToolResults(fitting, list(arguments.values()), told, documents),
        by_number={
            number: ToolResults([chunk.content], [arguments[number]] if number in arguments else [], told)
            for number, chunk in tools.items()
            if number not in failed
        },
        failed=calls,
        admitted=frozenset(each for sentence in sentences for each in calls.admitted(sentence)),
        has_others=len(failed) < len(contexts),
    )


def failure_units(tools: ToolEvidence | None, chunks: Sequence[str]) -> Iterator[EvidenceUnit]:
    """Yield what failed calls tell, so that an admission has evidence; of a call without words.

    Args:
        tools: the results.
        chunks: identifiers of the contexts, in order.
    """
    for each in tools.failures if tools else ():
        text = f"{each.name}: {'the call failed' if each.kind == 'error' else 'no results'}"
        yield EvidenceUnit(each.number, chunks[each.number - 1], 0, 0, text, content_words(text), True)


def attribute_units(
    tools: ToolEvidence, contexts: Sequence[ContextChunk], units: Sequence[EvidenceUnit]
) -> Iterator[EvidenceUnit]:
    """Yield the rows of results whose values all stand in markup, which readers of texts drop: ``<day high="21"/>``."""
    read = {unit.number for unit in units}
    for number in sorted(tools.by_number.keys() - read):
        chunk = contexts[number - 1]
        for row in (row for table in read_tables(chunk.content) for row in table.rows):
            text = ", ".join(f"{' '.join(cell.path[-1:])}: {cell.text}" for cell in row if cell.text)[:MAX_TEXT]
            yield EvidenceUnit(number, chunk.chunk_id, 0, len(chunk.content), text, content_words(text), True)


def with_tools(
    claims: Sequence[ExtractedClaim],
    measured: Sequence[MeasuredClaim],
    tools: ToolEvidence | None,
    numbers: frozenset[int] | None = None,
) -> list[MeasuredClaim]:
    """Return measured claims with what the results of tools decide.

    Args:
        claims: the claims.
        measured: their measures.
        tools: the results of tools; without them nothing changes.
        numbers: the contexts that the claims were compared with; all if absent.
    """
    if tools is None:
        return list(measured)
    findings = [_finding(claim, tools, numbers) for claim in claims]
    if numbers is None:
        for place in disordered([claim.plain for claim in claims], tools.question, tools.results):
            findings[place] = ToolFinding("contradicted", "comparative")
    return [
        each if finding is None else _decided(each, finding) for each, finding in zip(measured, findings, strict=True)
    ]


def _finding(claim: ExtractedClaim, tools: ToolEvidence, numbers: frozenset[int] | None) -> ToolFinding | None:
    calls = tools.failed
    if calls.admitted(claim.plain, numbers) and calls.says_no_more(claim.plain):
        return ToolFinding("supported")
    if numbers is None:
        results = tools.results
    elif len(numbers) == 1 and (number := next(iter(numbers))) in tools.by_number:
        results = tools.by_number[number]
    else:
        return None
    named = calls.named(claim.plain)
    if not tools.has_others and tools.hidden_failures and tools.admitted.isdisjoint(named or tools.admitted):
        return ToolFinding("contradicted", "negation")
    finding = _check(claim, tools.question, results)
    if not tools.admitted or tools.results.has_documents or (finding and finding.verdict == "contradicted"):
        return finding
    # What an answer adds to its admission: advice, an offer, what the call returned. Other statements need results.
    if claim.kind == "recommendation" or calls.says_no_more(claim.plain):
        return ToolFinding("supported")
    is_of_failed = calls.is_subject(claim.plain) and not calls.quotes(claim.plain)
    return ToolFinding("unsupported", "negation") if is_of_failed or not tools.has_others else finding


def _check(claim: ExtractedClaim, question: str, results: ToolResults) -> ToolFinding | None:
    """Check a claim against results; a value alone is read with its question as well: "17.5 hours"."""
    finding = check_claim(claim.plain, question, results, claim.worked)
    is_unknown = finding is not None and finding.verdict == "unsupported"
    if is_unknown and claim.asked and len(claim.plain.split()) <= VALUE_WORDS:
        whole = check_claim(f"{claim.asked.rstrip('?')}: {claim.plain}", question, results, claim.worked)
        if whole is not None and whole.verdict == "supported":
            return whole
    return finding


def records_of(answer: GeneratedAnswer) -> ToolResults | None:
    """Return the records among the contexts of an answer without tools, for what is computed of them; ``None`` without any."""
    contexts = answer.contexts or []
    rows = [chunk.content for chunk in contexts if chunk.content.lstrip()[:1] in ("{", "[")]
    if not rows or any(chunk.source_type == "tool" for chunk in contexts):
        return None
    return ToolResults(rows, [], [answer.query])


def computed_claims(
    claims: Sequence[ExtractedClaim], measured: Sequence[MeasuredClaim], records: ToolResults | None, question: str
) -> frozenset[int]:
    """Return the places of the claims with nothing against them but a figure that is computed of the records: a sum of chosen rows.

    Args:
        claims: the claims.
        measured: their measures.
        records: the records; without them there are none.
        question: the question of the answer.
    """
    if records is None:
        return frozenset()
    return frozenset(
        place
        for place, (claim, each) in enumerate(zip(claims, measured, strict=True))
        if (each.unknown_figures or "number" in each.mismatches)
        and {"number"}.issuperset(each.mismatches)
        and (finding := _check(claim, question, records)) is not None
        and finding.verdict == "supported"
    )


def as_computed(measured: MeasuredClaim) -> MeasuredClaim:
    """Return the measures of a claim whose figure is computed of records."""
    return _decided(measured, ToolFinding("supported"))


def _decided(measured: MeasuredClaim, finding: ToolFinding) -> MeasuredClaim:
    if finding.verdict == "supported":
        return replace(
            measured,
            values=np.zeros_like(measured.values),
            best=1.0,
            mismatches=(),
            contradicts=False,
            denied=False,
            unknown_figures=0,
            reading="compared",
            is_open=False,
        )
    mismatches = tuple(dict.fromkeys((*measured.mismatches, *((finding.mismatch,) if finding.mismatch else ()))))
    is_contradicted = finding.verdict == "contradicted" or measured.contradicts
    return replace(measured, mismatches=mismatches, contradicts=is_contradicted)
