"""Whatever lies on a topic: its decoder returns a model or says that it cannot read it, nothing else."""

import gc
import json
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.answers import GeneratedAnswer
from schemas.base import Event, UnreadableEvent
from schemas.enriched import EnrichedAnswer
from schemas.export import example, models
from workers.decision.enrichment import enrich
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds

MODELS = models()
MARKER = "zQ7markerQ7z"
NOW = datetime(2026, 11, 2, tzinfo=UTC)
FUZZ = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

RAW = "\ue000"
"""Stands in a JSON string for bytes that ``json.dumps`` would not write; see ``raw_json``."""


def decode(model: type[Event], value: bytes) -> Event | None:
    """The property: a model that reads back equal, or an error that tells no more than it may."""
    try:
        event = model.from_bytes(value)
    except UnreadableEvent as error:
        message = str(error)
        assert error.code in ("not_json", "unknown_version", "invalid")
        assert len(message) < 2_000
        assert MARKER not in message and not any(MARKER in field for field in error.fields)
        assert len(error.fields) <= 10
        return None
    written = event.to_bytes()
    json.loads(written, parse_constant=lambda token: pytest.fail(f"{token} is no JSON"))
    again = model.from_bytes(written)
    assert again == event
    assert again.to_bytes() == written
    return event


@cache
def examples(model: type[Event]) -> dict[str, Any]:
    return example(model)


def marked(model: type[Event]) -> dict[str, Any]:
    """The example with the marker in its texts, in unknown fields and in metadata."""
    content: dict[str, Any] = json.loads(json.dumps(examples(model)))
    return content | {"x_unknown": {MARKER: [MARKER]}}


# ---- mutations of a valid example

SPECIAL = (
    None, True, 0, -1, 1.5, 10**30, -(10**30), 2**63, 2**31, 10**4000, 1e308, 5e-324, "", MARKER, MARKER * 3, "1.0", "2.0",
    "NaN", "\x00", "\ufeff", "\u202e" + MARKER, "\U0010ffff", [], {}, [[]], [None], {MARKER: MARKER}, {"": ""},
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1900-01-01T00:00:00+14:00", "2199-12-31T23:59:59-14:00",
    "2026-01-01", "2026-13-01T00:00:00Z", "24:00", "-1", "1e400", {"start": 5, "end": 1}, list(range(300)),
    RAW + "NaN", RAW + "Infinity", RAW + "-Infinity", RAW + "1e999", RAW + "-1e999", RAW + "9" * 5_000, RAW + "1" * 400 + ".5",
    RAW + "0" * 50, RAW + "01", RAW + '"\\ud800"', RAW + '"\\udfff\\ud800"', RAW + '"\\u0000"', RAW + '"\\x41"', RAW + "nan",
    RAW + "[" * 150 + "]" * 150, RAW + "[" * 250 + "]" * 250, RAW + "[" * 10_000, RAW + '{"a":' * 10_000,
    RAW + '{"a":1,"a":2}', RAW + "1,", RAW + "", RAW + "// x\n1", RAW + "'a'", RAW + "+1", RAW + ".5", RAW + "1.",
)  # fmt: skip


REST_OF_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"')
"""Ends at the first quote that no backslash escapes."""


def raw_json(content: Any) -> bytes:
    """JSON in which a string that begins with ``RAW`` stands for its rest, unquoted."""
    parts = json.dumps(content, ensure_ascii=False).split('"' + RAW)
    rest = []
    for part in parts[1:]:
        text = REST_OF_STRING.match(part)
        assert text is not None
        rest.append(json.loads('"' + text[0]) + part[text.end() :])
    return "".join([parts[0], *rest]).encode("utf-8", "surrogatepass")


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value of a JSON document."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [path, *(place for key, value in items for place in places(value, (*path, key)))]


def mutated(content: Any, rng: random.Random) -> Any:
    """One change at a place of the document; in place but for the root."""
    path = rng.choice(places(content))
    if not path:
        return rng.choice([content, [content], {"value": content}, *SPECIAL[:12]]) if rng.random() < 0.2 else content
    holder = content
    for step in path[:-1]:
        holder = holder[step]
    last = path[-1]
    action = rng.randrange(7)
    if action == 0:
        del holder[last]
    elif action <= 3:
        holder[last] = deepcopy(rng.choice(SPECIAL))
    elif action == 4:
        holder[last] = [holder[last]] if rng.random() < 0.5 else {last if isinstance(last, str) else "x": holder[last]}
    elif action == 5 and isinstance(holder, list):
        holder.extend([holder[last]] * rng.choice((1, 5, 300)))
    elif isinstance(holder, dict):
        holder[rng.choice((MARKER, "", "schema_version", "answer_id", "__class__", "metadata", "model_config"))] = (
            deepcopy(rng.choice(SPECIAL))
        )
    return content


def damaged(value: bytes, rng: random.Random) -> bytes:
    """Bytes changed without regard to JSON."""
    at, to = sorted((rng.randrange(len(value) + 1), rng.randrange(len(value) + 1)))
    return rng.choice(
        (
            value[:at],
            value[:at] + value[to:],
            value[:to] + value[at:],
            value[:at] + rng.randbytes(rng.randrange(1, 8)) + value[at:],
            value[:at]
            + rng.choice((b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf8\x88", b"\x00", b"\xef\xbb\xbf"))
            + value[at:],
            value + value,
            value.decode("utf-8", "replace").encode("utf-16"),
        )
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_example_is_read_and_reads_back_equal(model: type[Event]) -> None:
    assert decode(model, json.dumps(examples(model)).encode()) is not None
    assert decode(model, json.dumps(marked(model)).encode()) is not None


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_arbitrary_bytes_are_refused_politely(model: type[Event]) -> None:
    @FUZZ
    @given(st.binary(max_size=300))
    def check(value: bytes) -> None:
        decode(model, value)

    check()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just(MARKER),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.just(MARKER), inner, max_size=4)
    ),
    max_leaves=15,
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_arbitrary_json_is_read_or_refused(model: type[Event]) -> None:
    @FUZZ
    @given(JSON, st.dictionaries(st.sampled_from(sorted(model.model_fields)), JSON, max_size=6))
    def check(anything: Any, fields: dict[str, Any]) -> None:
        decode(model, json.dumps(anything).encode())
        decode(model, json.dumps(fields).encode())
        decode(model, json.dumps(examples(model) | fields).encode())

    check()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_mutated_examples_are_read_or_refused(model: type[Event]) -> None:
    """From ordinary seeds and not hypothesis' own: 300 mutations of each model."""
    rng = random.Random(model.__name__)
    readable = 0
    for _ in range(300):
        content: Any = marked(model)
        for _ in range(rng.choice((1, 1, 2, 5))):
            content = mutated(content, rng)
        value = raw_json(content)
        if rng.random() < 0.25:
            value = damaged(value, rng)
        readable += decode(model, value) is not None
    assert readable > 10, "the mutations are too wild to test reading back"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_withstands_every_special_value(model: type[Event]) -> None:
    for name in model.model_fields:
        for special in SPECIAL:
            decode(model, raw_json(examples(model) | {name: special}))


# ---- large and hostile

ENDINGS: dict[str, Callable[[dict[str, Any], int], bytes]] = {
    "long text in every field": lambda content, n: json.dumps(
        dict.fromkeys(content, MARKER * (n // 12 // len(content)))
    ).encode(),
    "long unknown text": lambda content, n: json.dumps(content | {"x": "a" * n}).encode(),
    "long key": lambda content, n: json.dumps(content | {MARKER * (n // 12): 1}).encode(),
    "many unknown keys": lambda content, n: json.dumps(content | {f"k{i}": i for i in range(n // 10)}).encode(),
    "nested lists": lambda content, n: b"[" * n,
    "nested objects": lambda content, n: b'{"metadata":' * (n // 12),
    "nested in metadata": lambda content, n: raw_json(content | {"metadata": RAW + "[" * (n // 2) + "]" * (n // 2)}),
    "empty objects": lambda content, n: raw_json(content | {"metadata": {"x": RAW + "[" + "{}," * (n // 3) + "{}]"}}),
    "numbers": lambda content, n: raw_json(content | {"x": RAW + "[" + "1e15," * (n // 5) + "1]"}),
    "overflowing numbers": lambda content, n: raw_json(content | {"x": RAW + "[" + "1e999," * (n // 6) + "1]"}),
    "one number": lambda content, n: raw_json(content | {"x": RAW + "1" * n}),
    "one fraction": lambda content, n: raw_json(content | {"x": RAW + "0." + "1" * n}),
    "escapes": lambda content, n: raw_json(content | {"x": RAW + '"' + "\\u00e9" * (n // 6) + '"'}),
    "spaces": lambda content, n: b" " * n + json.dumps(content).encode(),
    "invalid utf-8": lambda content, n: b'{"x":"' + b"\xff" * n,
    "wrong lists": lambda content, n: json.dumps({key: [1] * (n // 3 // len(content)) for key in content}).encode(),
    "wrong mappings": lambda content, n: json.dumps(
        {key: {f"{MARKER}{i}": [] for i in range(n // 20 // len(content))} for key in content}
    ).encode(),
    "wrong parts": lambda content, n: json.dumps({key: [{}] * (n // 4 // len(content)) for key in content}).encode(),
    "version": lambda content, n: json.dumps(content | {"schema_version": "9" * n + ".0"}).encode(),
}


SMALL_BYTES, LARGE_BYTES = 7_500, 450_000
MOST_GROWTH = 1.5
"""Halfway between an exponent of one, where each byte costs the same, and of two, where it costs as many looks as there
are bytes. Over sixty times the size, a step is within it: a byte may cost several times as much where a record leaves
the caches or takes pages from the system."""


@pytest.fixture
def undisturbed() -> Iterator[None]:
    """A collection looks at what other tests have left; what is timed is the decoder's own work."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("ending", ENDINGS)
def test_time_stays_linear_and_errors_small_on_large_records(ending: str) -> None:
    """Time grows by size to the power of one and not of two, for every model."""
    for model in MODELS:
        content = examples(model)
        small, value = _seconds(model, ENDINGS[ending](content, SMALL_BYTES)), ENDINGS[ending](content, LARGE_BYTES)
        limit = small * (LARGE_BYTES / SMALL_BYTES) ** MOST_GROWTH
        started = time.thread_time()
        decode(model, value)
        # Mostly all that is done with the record takes less than its first reading may.
        large = time.thread_time() - started
        if large >= limit:
            large = _seconds(model, value, enough=limit)
        assert large < limit, (model.__name__, small, large)


def _seconds(model: type[Event], value: bytes, enough: float = 0.0) -> float:
    """The best of three times, or the first that is below ``enough``."""
    best = float("inf")
    for _ in range(3):
        started = time.thread_time()
        with suppress(UnreadableEvent):
            model.from_bytes(value)
        best = min(best, time.thread_time() - started)
        if best < enough:
            break
    return best


# ---- what was found


def answer(**changes: Any) -> bytes:
    return raw_json(examples(GeneratedAnswer) | changes)


@pytest.mark.parametrize(
    "time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1900-01-01T00:00:00+14:00"]
)
def test_a_time_that_leaves_the_calendar_in_utc_is_refused(time: str) -> None:
    with pytest.raises(UnreadableEvent, match="completed_at"):
        GeneratedAnswer.from_bytes(answer(completed_at=time))


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 400 + ".5"])
def test_a_number_that_json_has_not_is_null(token: str) -> None:
    event = GeneratedAnswer.from_bytes(answer(metadata={"logprob": RAW + token, "note": "NaN, Infinity"}))
    assert event.metadata == {"logprob": None, "note": "NaN, Infinity"}


def test_what_is_accepted_can_be_read_wherever_it_goes() -> None:
    """An answer travels inside an enriched answer: one level deeper."""
    accepted = []
    for depth in range(150, 220):
        try:
            event = GeneratedAnswer.from_bytes(answer(metadata={"x": RAW + "[" * depth + "]" * depth}))
        except UnreadableEvent as error:
            assert "recursion" in str(error) or "nested" in str(error)
            continue
        enriched = enrich(
            event, {}, partition=0, offset=0, now=NOW, pipeline_version="1", default_risk_mode="observer",
            gate=GateThresholds(), grounding_thresholds=GroundingThresholds(), style="standard",
            remember_without_context=False,
        )  # fmt: skip
        assert EnrichedAnswer.from_bytes(enriched.to_bytes()).answer == event
        accepted.append(depth)
    assert accepted and max(accepted) >= 180


def test_keys_of_a_sender_are_not_quoted() -> None:
    report = example(next(model for model in MODELS if model.__name__ == "CitationReport"))
    model = next(model for model in MODELS if model.__name__ == "CitationReport")
    with pytest.raises(UnreadableEvent) as caught:
        model.from_bytes(json.dumps(report | {"versions": {MARKER: 1}}).encode())
    assert caught.value.fields == ("versions.*",)
    with pytest.raises(UnreadableEvent) as caught:
        model.from_bytes(json.dumps(report | {"schema_version": MARKER, "citations": 1}).encode())
    assert MARKER not in str(caught.value)
