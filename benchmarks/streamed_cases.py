"""Measure streams of cases that were written by hand: which false answers are stopped, and which right ones.

    python -m benchmarks.streamed_cases
    python -m benchmarks.streamed_cases --heldout
    python -m benchmarks.streamed_cases --cases tests/data/assistant_prose_cases.jsonl tests/data/agent_cases.jsonl

Each answer arrives in pieces of one to eight code points, cut at random places: within words, numbers, citations and
tables. Every finished sentence is evaluated by the steps of ``POST /v1/check/stream`` before the next piece comes. The
place of the false sentence is that of the first difference from the right twin. A finding on the last sentence cannot
stop a stream; "late" counts the false answers whose finding comes with the verdict on the whole answer.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from benchmarks.answer_cases import CASES, AnswerCase, Rate, answer_of, read_cases
from schemas.grounding import Claim
from workers.check.check_models import AnswerToCheck, CheckedAnswer, CheckedPart
from workers.check.check_service import CheckService
from workers.check.growing_answer import GrowingAnswer, checked_parts
from workers.decision.stream_stop import StopOn, stop_reason
from workers.evaluation.text.structure.finished_sentences import finished_ends
from workers.evaluation.text.structure.segmentation import segment
from workers.inference.opening import open_embedding
from workers.pipeline.versions import pipeline_version
from workers.settings import CheckSettings, Settings

STREAMED = CASES.with_name("streamed_cases.jsonl")
LONGEST_PIECE = 8
"""Maximum length of a piece, code points."""
SECONDS = 60.0
Place = Literal["first", "middle", "last", "elsewhere"]
STOPS: tuple[StopOn, ...] = ("contradicted_figure", "high_risk")


@dataclass(frozen=True, slots=True)
class Stream:
    """Hold what became of one stream.

    Attributes:
        case: the case.
        place: place of the sentence in which it differs from its twin.
        equal: true if the last verdict is that of the check of the whole answer.
        early: verdicts of claims before the end and in the last verdict.
        stops: the settings that stop the stream before its end.
        late: the settings that would stop it at the last verdict.
    """

    case: AnswerCase
    place: Place
    equal: bool
    early: Sequence[tuple[str, str | None]] = ()
    stops: frozenset[StopOn] = field(default_factory=frozenset)
    late: frozenset[StopOn] = field(default_factory=frozenset)


def false_place(case: AnswerCase, twin: AnswerCase) -> Place:
    """Return the place of the sentence in which an answer differs from its twin; ``elsewhere`` if answers are equal."""
    if case.answer == twin.answer:
        return "elsewhere"
    differing = (number for number, pair in enumerate(zip(case.answer, twin.answer, strict=False)) if len({*pair}) > 1)
    offset = next(differing, min(len(case.answer), len(twin.answer)))
    sentences = segment(case.answer)
    number = next((number for number, each in enumerate(sentences) if each.end > offset), len(sentences) - 1)
    return "last" if number >= len(sentences) - 1 else "middle" if number else "first"


def pieces(text: str, chosen: random.Random) -> list[str]:
    """Cut a text into pieces of random length."""
    found, start = [], 0
    while start < len(text):
        end = start + chosen.randint(1, LONGEST_PIECE)
        found.append(text[start:end])
        start = end
    return found


async def stream(service: CheckService, case: AnswerCase, twin: AnswerCase) -> Stream:
    """Stream one answer and check it as a whole."""
    answer = AnswerToCheck.model_validate(answer_of(case, "gatekeeper").model_dump())
    growing, parts = GrowingAnswer(), list[CheckedPart]()
    found = checked_parts(
        growing, lambda text, memory: service.check(answer.model_copy(update={"answer": text}), SECONDS, memory)
    )
    for piece in pieces(case.answer, random.Random(case.id)):
        growing.add(piece)
        if finished_ends(growing.text, parts[-1].end if parts else 0):
            part = await anext(found)
            assert isinstance(part, CheckedPart)
            parts.append(part)
    growing.end()
    last = await anext(found)
    assert isinstance(last, CheckedAnswer)
    whole = await service.check(answer, SECONDS)
    return Stream(
        case,
        false_place(case, twin),
        last.model_dump(exclude={"seconds"}) == whole.model_dump(exclude={"seconds"}),
        [(claim.verdict, _last_verdict(claim, last.claims)) for part in parts for claim in part.claims],
        frozenset(
            stop for stop in STOPS if any(stop_reason(part.claims, part.hallucination_risk, stop) for part in parts)
        ),
        frozenset(stop for stop in STOPS if stop_reason(last.claims, last.hallucination_risk, stop)),
    )


def _last_verdict(claim: Claim, last: Sequence[Claim]) -> str | None:
    """Return the verdict on the claim with the same beginning in the whole answer, ``None`` if none begins there."""
    return next((each.verdict for each in last if each.span.start == claim.span.start), None)


def table(streams: Sequence[Stream]) -> str:
    """Return what was stopped, by the place of the false sentence, as a table in Markdown."""
    heading = ("setting", "place of the false sentence", "false: stopped", "right: stopped", "precision", "late")
    lines = ["| " + " | ".join(heading) + " |", "|---" * len(heading) + "|"]
    for stop in STOPS:
        for place in (*get_args(Place), "all"):
            chosen = [each for each in streams if place in ("all", each.place)]
            if not chosen:
                continue
            false, right = ([each for each in chosen if each.case.is_right is side] for side in (False, True))
            stopped, wrongly = (Rate.of(stop in each.stops for each in side) for side in (false, right))
            precision = Rate(stopped.count, stopped.count + wrongly.count)
            late = sum(stop in each.late - each.stops for each in false)
            lines.append(f"| `{stop}` | {place} | {stopped} | {wrongly} | {precision} | {late} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Measure one half and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heldout", action="store_true", help="measure the held-out half, without a list of streams")
    parser.add_argument("--cases", type=Path, nargs="+", default=[STREAMED], help="files of the cases")
    options = parser.parse_args(arguments)
    cases = {case.id: case for path in options.cases for case in read_cases(path)}
    chosen = [case for case in cases.values() if case.heldout == options.heldout and case.answer]
    with tempfile.TemporaryDirectory() as folder:
        streams = asyncio.run(_streams(chosen, cases, Path(folder)))
    early = [pair for each in streams for pair in each.early]
    print(f"{len(streams)} streams; the last verdict is that of the whole answer: {sum(s.equal for s in streams)}")
    changed = [pair for pair in early if pair[0] != pair[1]]
    print(
        f"{len(early)} claims before the end; another verdict at the end: {len(changed)} {sorted(map(str, {*changed}))}"
    )
    print(table(streams))
    for each in () if options.heldout else streams:
        if each.case.is_right is bool(each.stops):
            print(f"{each.case.id} ({each.place}): stopped by {sorted(each.stops)}, late {sorted(each.late)}")


async def _streams(chosen: Sequence[AnswerCase], cases: dict[str, AnswerCase], folder: Path) -> list[Stream]:
    settings = Settings(_env_file=None, state_dir=folder, check=CheckSettings(deadline_seconds=SECONDS))
    embedding = await open_embedding(settings)
    service = CheckService(
        settings, embedding, pipeline_version(settings), lambda: AnswerToCheck(answer="").completed_at
    )
    try:
        return [await stream(service, case, cases[case.twin]) for case in chosen]
    finally:
        await service.stop()
        await embedding.stop()


if __name__ == "__main__":
    main()
