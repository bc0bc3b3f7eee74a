"""The parts of a replay that need no broker: what is asked for, how fast, and what was known."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.export import example
from workers.delivery.records import Record
from workers.errors import TouchstoneError
from workers.replay import throttle as throttling
from workers.replay.replay_options import AnswerFilter, OffsetsUnusable, ReplayOptions, read_offsets
from workers.replay.stored_reports import StoredJudgements
from workers.replay.throttle import Pace, Throttle

ANSWER = GeneratedAnswer.model_validate(
    example(GeneratedAnswer) | {"tenant": "acme", "query_type": "billing", "latency_seconds": 3.0}
)


@pytest.mark.parametrize("name", ["live", "current", "", "-x", "a b", "a/b", "x" * 101, "ä"])
def test_a_name_that_cannot_be_a_topic_or_means_something_else_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="is not a valid version"):
        ReplayOptions(run=name)


def test_a_filter_that_is_no_expression_is_refused_with_its_place() -> None:
    with pytest.raises(ValidationError, match="not a valid JMESPath expression"):
        ReplayOptions(run="r", filter="query_type ==")


def test_a_time_in_which_nothing_lies_is_refused() -> None:
    with pytest.raises(ValidationError, match="--from must be before --to"):
        ReplayOptions(run="r", since=datetime(2026, 1, 2, tzinfo=UTC), until=datetime(2026, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        ({}, True),
        ({"tenant": "acme"}, True),
        ({"tenant": "globex"}, False),
        ({"model": ANSWER.model.id}, True),
        ({"model": "another"}, False),
        ({"filter": "query_type == 'billing' && latency_seconds > `2`"}, True),
        ({"filter": "contexts[?chunk_id == 'nowhere']"}, False),
        ({"filter": "absent.field"}, False),
    ],
)
def test_an_answer_is_wanted_by_what_it_says(chosen: dict[str, Any], wanted: bool) -> None:
    assert AnswerFilter(ReplayOptions(run="r", **chosen)).wants(ANSWER) is wanted


def test_a_filter_that_does_not_fit_an_answer_names_it() -> None:
    chosen = AnswerFilter(ReplayOptions(run="r", filter="length(latency_seconds) > `1`"))
    with pytest.raises(TouchstoneError, match=f"cannot be applied to answer {ANSWER.answer_id}"):
        chosen.wants(ANSWER)


RANGES = st.dictionaries(
    st.integers(0, 5),
    st.tuples(st.integers(0, 50), st.integers(1, 50)).map(lambda pair: (pair[0], sum(pair))),
    min_size=1,
)


@given(RANGES)
def test_ranges_hold_what_lies_in_them(
    tmp_path_factory: pytest.TempPathFactory, ranges: dict[int, tuple[int, int]]
) -> None:
    path = tmp_path_factory.mktemp("offsets") / "offsets.json"
    path.write_text(json.dumps(ranges))
    options = ReplayOptions(run="r", offsets=read_offsets(path))
    for partition in range(6):
        first, end = ranges.get(partition, (0, 0))
        assert [n for n in range(101) if options.holds_offset(partition, n)] == list(range(first, end))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), min_size=1))
def test_a_list_of_answers_holds_each_of_them(
    tmp_path_factory: pytest.TempPathFactory, places: list[tuple[int, int]]
) -> None:
    path = tmp_path_factory.mktemp("offsets") / "offsets.json"
    path.write_text(json.dumps([{"partition": partition, "offset": offset} for partition, offset in places]))
    options = ReplayOptions(run="r", offsets=read_offsets(path))
    held = {(p, n) for p in range(4) for n in range(21) if options.holds_offset(p, n)}
    assert held == set(places)
    first, last = options.first_offsets(), options.last_offsets()
    assert all(first[partition] <= offset < last[partition] for partition, offset in places)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", "7", '{"0": 3}', '{"0": [5, 5]}', '{"0": [-1, 5]}', '[{"partition": 0}]', '{"a": [0, 1]}'],
)
def test_offsets_of_another_form_are_refused_with_the_forms_there_are(tmp_path: Path, content: str) -> None:
    path = tmp_path / "offsets.json"
    path.write_text(content)
    with pytest.raises(OffsetsUnusable, match=r"offsets\.json"):
        read_offsets(path)


def enriched(name: str, rank: int = 4) -> dict[str, Any]:
    return example(EnrichedAnswer) | {"answer_id": name, "rank": rank}


def asked(name: str, **fields: Any) -> GeneratedAnswer:
    tenant = {"tenant": example(EnrichedAnswer)["tenant"]}
    return GeneratedAnswer.model_validate(example(GeneratedAnswer) | tenant | {"answer_id": name} | fields)


def noted(agents: tuple[Any, ...], *records: dict[str, Any] | bytes) -> StoredJudgements:
    stored = StoredJudgements(agents)

    async def batches() -> Any:
        values = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in records]
        yield [Record("answers.enriched", 0, number, None, value) for number, value in enumerate(values)]

    asyncio.run(stored.read(batches()))
    return stored


def test_stored_results_give_what_was_remembered_and_the_reports_of_agents_left_out() -> None:
    earlier = [{"answer_id": "before", "timestamp": "2026-10-01T08:00:00Z", "response": "The pump runs at 4 bar."}]
    judged = enriched("a-1")
    judged["quality"]["consistency"] = {"within": 1.0, "earlier": earlier}
    stored = noted(("grounding",), judged, b"{", b"[]", b"7", json.dumps({"answer_id": "half"}).encode())
    known = stored.of(asked("a-1"))
    assert known is not None and [each.answer_id for each in known.earlier] == ["before"]
    assert set(known.reports) == {"citations", "quality"}
    assert stored.of(asked("half")) is None and stored.of(asked("a-2")) is None
    assert stored.of(asked("a-1", tenant="another")) is None
    stored.close()


@given(st.permutations([1, 2, 4]))
def test_of_several_results_the_most_complete_counts_in_whatever_order(ranks: list[int]) -> None:
    records = []
    for rank in ranks:
        judged = enriched("a-1", rank)
        judged["quality"]["consistency"] = {
            "earlier": [{"answer_id": f"of-{rank}", "timestamp": "2026-10-01T08:00:00Z", "response": "x"}]
        }
        records.append(judged)
    stored = noted(("quality",), *records)
    known = stored.of(asked("a-1"))
    assert known is not None and known.earlier[0].answer_id == "of-4"
    stored.close()


class Clock(throttling.Clock):
    """A time that waiting moves on."""

    def __init__(self) -> None:
        self.now = 100.0

    def time(self) -> float:
        return self.now

    async def pause(self, seconds: float, stop: asyncio.Event) -> None:
        self.now += 0.0 if stop.is_set() else seconds


class Waits:
    """A throttle at work: what it was asked and told, and how often there was time for something else."""

    def __init__(self, rate: float | None, *behind: int) -> None:
        self.behind = list(behind)
        self.told: list[int | None] = []
        self.idle = 0
        self.clock = Clock()
        self.throttle = Throttle(Pace(rate), self.lag, 1_000, self.told.append, self.clock)

    async def lag(self) -> int:
        return self.behind.pop(0)

    async def rest(self) -> None:
        self.idle += 1

    def begin(self, answers: int, *, stopped: bool = False) -> None:
        async def wait() -> None:
            stop = asyncio.Event()
            if stopped:
                stop.set()
            await self.throttle.wait(answers, stop, self.rest)

        asyncio.run(wait())


def test_a_pace_is_kept_and_lost_time_is_not_made_up_for() -> None:
    waits = Waits(10.0, *[0] * 9)
    begun = []
    for at in (None, None, None, 200.0, None):
        waits.clock.now = at or waits.clock.now
        waits.begin(5)
        begun.append(waits.clock.now)
    assert begun == [100.0, 100.5, 101.0, 200.0, 200.5]
    assert waits.idle == 0, "half a second is too short for anything else"


def test_a_replay_waits_until_live_traffic_has_caught_up() -> None:
    waits = Waits(None, 0, 5_000, 2_000, 1_000, 900)
    waits.begin(1)
    assert waits.told == []
    waits.begin(1)  # looked at a moment ago
    waits.clock.now += 10
    waits.begin(1)
    assert (waits.told, waits.behind) == ([5_000, 2_000, None], [900])
    assert waits.idle == 2, "what is judged is written meanwhile"


def test_a_replay_that_is_to_stop_waits_for_nothing() -> None:
    waits = Waits(None, 5_000)
    waits.begin(1, stopped=True)
    assert (waits.told, waits.behind) == ([], [5_000])
