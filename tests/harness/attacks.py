"""Bad input from a seed: requests and records that no well-behaved client sends."""

import gzip
import json
import random
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.harness.hostile_results import RESULTS, TURNS, UNFINISHED

MOST_BYTES = 900_000
"""Largest value of a record; the broker refuses more."""

TIME = "2026-11-02T08:00:00Z"
TEXTS = (
    "", " ", "\x00", "\x1b[2J\x1b]0;x\x07", "\ud800", "\u202e\u2066evil", "A" * 70_000, "é" * 9_000, "\U0001f469\u200d" * 3_000,
    "1+1=" * 2_000, "(" * 5_000, "[1]" * 3_000, "|a|b|\n|-|-|\n" * 900, "$" * 4_000, "```\n" * 2_000, "-" * 8_000,
    "<script>alert(1)</script>", "'; DROP TABLE answers; --", "{{7*7}}${7*7}", "../../../etc/passwd", "%00%0a%0d", "\r\nX: y",
    "NaN", "Infinity", "-0", "9" * 400, "1e999", "0x7f", "null", "२४ महीने", "٣٦ شهرا", "三十六か月", "Z̷͔̳̩" * 400,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**63, 2**200, 1e308, -1e308, [], {}, [[]], [None], {"": None}, [1] * 3_000, ["x"] * 3_000,
)  # fmt: skip
QUERIES = (
    "And the second one?", "How long does it run there?", "What about that pump's?", "Why?", "it " * 160, "that " * 100,
    "The price of the pump in the hall of the house at the lake with its motor and its cable",
)  # fmt: skip
"""Queries that need the turns before them."""
PATHS = (
    "/api/answers/{}", "/api/answers/{}/explanation", "/api/citations/{}", "/api/citations/source/{}/{}", "/answers/{}",
    "/citations/{}", "/citations/{}/panel", "/review/{}", "/review/{}/item", "/api/reviews/{}", "/api/memory", "/api/answers",
    "/search", "/api/overview", "/api/audit/citations", "/api/audit/low-grounding", "/api/audit/accesses", "/api/reviews",
    "/api/reviews/stats", "/static/{}", "/{}", "/login", "/api/session", "/healthz",
)  # fmt: skip
POSTS = (
    "/v1/answers", "/v1/answers/litellm", "/v1/answers/otlp", "/v1/answers/langfuse", "/v1/answers/openai-chat",
    "/v1/answers/{}", "/v1/traces", "/v1/logs", "/v1/check", "/v1/check/stream", "/api/answers", "/api/feedback", "/api/session",
    "/api/answers/{}/vote", "/api/reviews/{}/decision", "/api/reviews/{}/lock", "/api/reviews/{}/escalate",
    "/api/reviews/next",
)  # fmt: skip
PARAMETERS = (
    "tenant",
    "cursor",
    "limit",
    "since",
    "until",
    "risk",
    "state",
    "q",
    "model",
    "user",
    "answer_id",
    "lang",
    "x",
)
HEADERS: Mapping[str, tuple[str, ...]] = {
    "Content-Type": ("application/json", "text/plain", "application/x-protobuf", "multipart/form-data", "a/b; charset=x", ""),
    "Origin": ("http://[bad", "null", "http://evil.example", "file://", "\xff"),
    "X-Forwarded-For": ("1.2.3.4", "a, b, c", "::1%eth0", "[", "," * 500, "\xff\xfe"),
    "X-Forwarded-Proto": ("https", "javascript", "\x7f"),
    "Idempotency-Key": ("", "x" * 5_000, "\xe9", "a b"),
    "If-None-Match": ("*", '"', 'W/"' + "x" * 3_000, "\xff"),
    "traceparent": ("00-" + "0" * 32 + "-" + "0" * 16 + "-00", "x", "\xff"),
    "Accept": ("text/html", "application/json", "*/*;q=x", "x" * 3_000),
    "Accept-Language": ("de", "x" * 2_000, "*;q=9"),
    "Cookie": ("session=x", "touchstone=" + "a" * 3_000, "=;=;=", "\xff"),
    "ce-id": ("x", "\xff"), "ce-specversion": ("1.0", "9"), "ce-type": ("x",), "ce-source": ("x",),
    "Range": ("bytes=0-", "bytes=9-1"), "Expect": ("x",),
}  # fmt: skip


@dataclass(frozen=True)
class BadRequest:
    """One request; a header ``Authorization`` replaces that of the client."""

    method: str
    path: str
    content: bytes | None = None
    headers: Mapping[str, bytes] = field(default_factory=dict)


def answer(name: str, **fields: Any) -> dict[str, Any]:
    """A valid answer, some fields of which are replaced."""
    return {
        "answer_id": name, "query": "How long is the warranty?", "answer": "The warranty lasts 36 months [1].",
        "contexts": [{"chunk_id": "c1", "content": "The warranty is 24 months."}], "completed_at": TIME,
        "model": {"id": "m"}, "user_id": "u", "session_id": "s", "metadata": {"k": "v"},
    } | fields  # fmt: skip


def packed(value: Any) -> bytes:
    """JSON with half a surrogate pair and numbers beyond every range as they are."""
    return json.dumps(value).encode("utf-8", "surrogatepass")


class Attacks:
    """Bad input, the same for the same seed.

    Args:
        seed: seed of the generator.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._numbers = iter(range(10**9))
        self._kinds: tuple[Callable[[str], bytes], ...] = (
            self._noise, self._cut, self._deep, self._wide, self._replaced, self._replaced, self._replaced, self._hostile,
            self._encoded, self._several, self._after_turns, self._over_results,
        )  # fmt: skip

    def requests(self, count: int) -> Iterator[BadRequest]:
        """Requests of all kinds."""
        for _ in range(count):
            yield self._post() if self._random.random() < 0.65 else self._get()

    def records(self, count: int) -> Iterator[tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]]:
        """Keys, values and headers of records."""
        pick = self._random
        for _ in range(count):
            name = f"attack-{next(self._numbers)}"
            value = None if pick.random() < 0.02 else pick.choice(self._kinds)(name)
            key = pick.choice((name.encode(), None, b"", b"\xff\xfe", b'["x","y"]', b"k" * 2_000))
            headers = [(pick.choice(("ce_id", "traceparent", "dlq_topic", "x" * 300)), pick.randbytes(20))]
            if value is None:
                yield name.encode(), None, []
            else:
                yield key, value[:MOST_BYTES], headers if pick.random() < 0.3 else []

    def hostile_answers(self, count: int, length: int = 8_000) -> Iterator[dict[str, Any]]:
        """Answers of a length that are valid, and as expensive to evaluate as the generator can make them.

        One in three has results of tools, and one in three many long turns before its query.
        """
        pick = self._random
        for number in range(count):
            text = self._long_text(length)
            contexts = [{"chunk_id": f"c{n}", "content": self._long_text(3_000)} for n in range(4)]
            more: dict[str, Any] = {}
            if number % 3 == 1:
                makers = pick.sample([*RESULTS.values(), *UNFINISHED.values()], 2)
                contexts[:2] = [self._result(n, make(24_000)) for n, make in enumerate(makers)]
            elif number % 3 == 2:
                turns = [{"role": ("user", "assistant")[n % 2], "content": self._turn(7_000)} for n in range(40)]
                more = {"conversation": turns, "query": pick.choice(QUERIES)}
            yield answer(f"hostile-{number}", answer=text, contexts=contexts, **more)

    def _turn(self, length: int) -> str:
        return self._random.choice(list(TURNS.values()))(length)

    def _result(self, number: int, content: str) -> dict[str, Any]:
        call = {
            "id": f"call-{number}",
            "name": "f",
            "arguments": {"rows": [{"name": f"Pump {number}", "hours": number}]},
        }
        return {"chunk_id": f"t{number}", "content": content, "source_type": "tool", "tool": call}

    def _long_text(self, length: int) -> str:
        pick = self._random
        pieces = [
            lambda n: f"{n}+{n + 1}=", lambda n: f"({n}", lambda n: f"[{n}] ", lambda n: f"{n % 24}:{n % 60:02} ",
            lambda n: f"${n},000 and {n} minutes, ", lambda n: "not ", lambda n: f"|{n}|{7 * n} min|\n", lambda n: '"',
            lambda n: f"- item {n}\n", lambda n: f"2026-{n % 12 + 1:02}-{n % 28 + 1:02} ", lambda n: "a. b ", lambda n: "**_`",
        ]  # fmt: skip
        chosen = pick.sample(pieces, pick.randint(1, 3))
        return "".join(chosen[n % len(chosen)](n) for n in range(length))[:length]

    # --- bodies ------------------------------------------------------------------------------

    def _noise(self, _: str) -> bytes:
        return self._random.randbytes(self._random.choice((0, 1, 2, 50, 5_000)))

    def _cut(self, name: str) -> bytes:
        whole = packed(answer(name))
        return whole[: self._random.randrange(len(whole))]

    def _deep(self, _: str) -> bytes:
        depth = self._random.choice((100, 300, 2_000, 50_000))
        opening = self._random.choice(("[", '{"a":'))
        return opening.encode() * depth + self._random.choice((b"", b"]" * depth, b"1" + b"}" * depth))

    def _wide(self, name: str) -> bytes:
        pick = self._random
        names = ["".join(pick.choices(string.printable, k=8)) for _ in range(pick.choice((50, 2_000)))]
        return packed(answer(name, metadata=dict.fromkeys(names, pick.choice(VALUES[:10]))))

    def _replaced(self, name: str) -> bytes:
        pick = self._random
        fields = answer(name)
        for field_name in pick.sample(sorted(fields), pick.randint(1, 3)):
            fields[field_name] = pick.choice((*TEXTS, *VALUES))
        if pick.random() < 0.5:
            fields["contexts"] = [
                {"chunk_id": pick.choice(TEXTS), "content": pick.choice((*TEXTS, *VALUES))}
            ] * pick.choice((1, 60))
        return packed(fields)

    def _hostile(self, name: str) -> bytes:
        pick = self._random
        return packed(
            answer(name, answer=pick.choice(TEXTS) or "x", query=pick.choice(TEXTS), citations=[pick.choice(VALUES)])
        )

    def _encoded(self, name: str) -> bytes:
        text = json.dumps(answer(name))
        return text.encode(self._random.choice(("utf-16", "utf-32", "utf-8-sig", "utf-7", "cp037")))

    def _several(self, name: str) -> bytes:
        return packed([answer(name), self._random.choice(VALUES), answer(name)])

    def _after_turns(self, name: str) -> bytes:
        """An answer after earlier turns and steps, up to their limits and beyond."""
        pick = self._random
        turns: list[Any] = [
            {"role": pick.choice(("user", "assistant")), "content": self._turn(pick.choice((1, 600, 5_000)))}
            for _ in range(pick.choice((1, 8, 40, 41)))
        ]
        if pick.random() < 0.3:
            turns[-1] = pick.choice(
                ({"role": "system", "content": "x"}, {"role": "user", "content": pick.choice(TEXTS)}, *VALUES)
            )
        step = {
            "kind": "tool",
            "name": "f",
            "output": self._turn(pick.choice((10, 5_000))),
            "status": pick.choice(("error", "x")),
        }
        steps = [step] * pick.choice((0, 0, 3, 50, 51))
        return packed(answer(name, query=pick.choice(QUERIES), conversation=turns, steps=steps))

    def _over_results(self, name: str) -> bytes:
        """An answer over results of tools in all forms, with calls that are well-formed or not."""
        pick = self._random
        makers = pick.sample([*RESULTS.values(), *UNFINISHED.values(), lambda _: pick.choice(TEXTS)], 2)
        results = [self._result(n, make(pick.choice((300, 3_000, 12_000)))) for n, make in enumerate(makers)]
        if pick.random() < 0.5:
            results[0]["tool"] |= {
                "arguments": pick.choice((*TEXTS, *VALUES, "{" * 9_000, '{"a":' * 3_000)),
                "status": pick.choice(("ok", "error", 503, True, "maybe", [])), "error": pick.choice((*TEXTS, None)),
                "called_at": pick.choice((TIME, "9999-99-99", 1, None)),
            }  # fmt: skip
        return packed(answer(name, answer=self._long_text(pick.choice((200, 2_000))), contexts=results))

    # --- requests ----------------------------------------------------------------------------

    def _get(self) -> BadRequest:
        pick = self._random
        method = pick.choice(("GET", "GET", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"))
        return BadRequest(method, self._path(PATHS) + self._query(pick.randint(0, 4)), None, self._headers())

    def _post(self) -> BadRequest:
        pick = self._random
        name = f"attack-{next(self._numbers)}"
        content = pick.choice(self._kinds)(name)
        headers = {"Content-Type": b"application/json"} | self._headers()
        path = self._path(POSTS)
        if path == "/api/answers" and pick.random() < 0.5:
            content = b'{"answers": [' + content + b"]}"
        elif path == "/api/feedback":
            event = {"answer_id": pick.choice(TEXTS), "kind": pick.choice(("explicit", "x")), "explicit": pick.choice(VALUES),
                     "occurred_at": pick.choice((TIME, "9999-99-99", 1, None))}  # fmt: skip
            content = packed({"events": [event] * pick.choice((1, 300))})
        if pick.random() < 0.15:
            content = pick.choice(
                (gzip.compress(content), gzip.compress(content)[:-4], gzip.compress(bytes(30_000_000)))
            )
            headers["Content-Encoding"] = pick.choice((b"gzip", b"gzip", b"br", b"gzip, gzip"))
        return BadRequest("POST", path + self._query(pick.random() < 0.2), content, headers)

    def _query(self, parameters: int) -> str:
        pairs = [f"{self._random.choice(PARAMETERS)}={self._quoted(self._word())}" for _ in range(parameters)]
        return "?" + "&".join(pairs) if pairs else ""

    def _path(self, paths: tuple[str, ...]) -> str:
        path = self._random.choice(paths)
        while "{}" in path:
            path = path.replace("{}", self._quoted(self._word()[:1_500]), 1)
        return path

    def _word(self) -> str:
        return self._random.choice((*TEXTS, *(str(value)[:300] for value in VALUES), "x", "2026-11-02", "a/b", "."))

    def _quoted(self, word: str) -> str:
        return "".join(f"%{byte:02x}" for byte in word.encode("utf-8", "surrogatepass")[:400])

    def _headers(self) -> dict[str, bytes]:
        pick = self._random
        chosen = pick.sample(sorted(HEADERS), pick.choice((0, 0, 1, 2, 3)))
        headers = {name: pick.choice(HEADERS[name]).encode("latin-1") for name in chosen}
        if pick.random() < 0.1:
            headers["Authorization"] = pick.choice(
                (b"", b"Bearer", b"Bearer \xff", b"Basic eDp5", b"Bearer " + b"x" * 3_000)
            )
        return headers
