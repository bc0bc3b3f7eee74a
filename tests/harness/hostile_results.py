"""Results of tools and earlier turns that are as much work as a text of their length can be."""

import json
from collections.abc import Callable
from typing import Any

Make = Callable[[int], str]
"""Return a text of a length, about: JSON keeps its end, so that it stays readable."""


def series(piece: Callable[[int], str], separator: str = "\n", head: str = "", tail: str = "") -> Make:
    """Return a generator of texts of different whole pieces up to a length."""

    def make(length: int) -> str:
        pieces: list[str] = []
        size = len(head) + len(tail)
        while (size := size + len(piece(len(pieces))) + len(separator)) <= length:
            pieces.append(piece(len(pieces)))
        return head + separator.join(pieces) + tail

    return make


def records(record: Callable[[int], Any], whole: Callable[[list[Any]], Any] = lambda values: values) -> Make:
    """Return a generator of JSON texts of different records up to a length."""

    def make(length: int) -> str:
        values: list[Any] = []
        size = 2
        while (size := size + len(json.dumps(record(len(values)))) + 2) < length:
            values.append(record(len(values)))
        return json.dumps(whole(values))

    return make


def nested(values: list[Any]) -> Any:
    """Return objects within objects, each with a few of the values."""
    found: Any = {}
    step = len(values) // 30 + 1
    for place in range(0, len(values), step):
        found = {"inner": found, **{f"key {n}": value for n, value in enumerate(values[place : place + step], place)}}
    return found


CLAIMS = series(
    lambda i: f"Pump {i} ran {7 * i} hours at {i % 24:02}:{i % 60:02}, worker-{i} is open and costs ${3 * i}.", " "
)
"""Claims on these results, with figures, names and times."""

RESULTS: dict[str, Make] = {
    "JSON records": records(lambda i: {"name": f"Pump {i}", "hours": 11 + i, "share": i / 40, "state": ("open", "shut")[i % 2]}),
    "JSON numbers": records(lambda i: 11 + 3 * i),
    "JSON times": records(lambda i: {"created_at": 1_700_000_000 + 86_400 * i, "name": f"worker-{i}"}),
    "JSON one record": records(lambda i: i, lambda values: {f"Key {i}": f"value {i}" for i in values}),
    "JSON alike objects": records(
        lambda i: {"price": 3 * i, "name": f"Pump {i}"}, lambda values: {f"item {i}": each for i, each in enumerate(values)}
    ),
    "JSON in JSON": records(lambda i: 11 + i, nested),
    "JSON lists in records": records(lambda i: {"name": f"Order {i}", "items": [{"units": i, "price": 2.5 * i}] * 2}),
    "JSON lines": series(lambda i: json.dumps({"id": i, "value": 3 * i})),
    "CSV": series(lambda i: f"Pump {i},{7 * i},{i % 13}.5,2026-11-{i % 28 + 1:02}", head="name,hours,cost,day\n"),
    "CSV of one row": lambda n: ",".join(f"c{i}" for i in range(n // 14)) + "\n" + ",".join(map(str, range(n // 14))),
    "CSV with an open quotation": lambda n: 'a,b\n"' + "x,y\n" * (n // 4),
    "log": series(lambda i: f"2026-11-02T{i % 24:02}:{i % 60:02}:00Z ERROR worker-{i} failed after {i} ms"),
    "times of a log": series(lambda i: f"{i % 24:02}:{i % 60:02} worker-{i} is up"),
    "HTML table": series(lambda i: f"<tr><td>Pump {i}<td>{7 * i}<td>{i % 13}", "", "<table><tr><th>name<th>hours<th>cost"),
    "HTML list": series(lambda i: f"<li>Pump {i}: {7 * i} hours</li>", "", "<ul>"),
    "XML": series(lambda i: f'<day high="{i % 30}" low="{i % 20}" at="{i}"/>', "", "<days>", "</days>"),
    "names and values": series(lambda i: f"Key {i}: {7 * i} min"),
    "columns": series(lambda i: f"pump{i}   {7 * i}   {i % 13}", head="NAME   HOURS   COST\n"),
    "rows": series(lambda i: f"| Pump {i} | {7 * i} |", head="| name | hours |\n|---|---|\n"),
    "sentences": series(lambda i: f"Item {i} costs ${3 * i + 11} for {i} minutes.", " "),
}  # fmt: skip
"""Results by their form."""

UNFINISHED: dict[str, Make] = {
    # Each of these was quadratic once: a pattern or a parser began again at each piece.
    "dashes before a letter": lambda n: "-" * n + "x",
    "dashes and bars before a letter": lambda n: "-|" * (n // 2) + "x",
    "open comments": lambda n: "<ul>" + "<!--" * (n // 4),
    "open tags": lambda n: "<ul>" + "<tr" * (n // 3),
    "open ends": lambda n: "<ul>" + "</" * (n // 2),
    "open attributes": lambda n: "<ul>" + "<a b=" * (n // 5),
    "open instructions": lambda n: "<ul>" + "<?" * (n // 2),
    "open sections": lambda n: "<ul>" + "<![CDATA[" * (n // 9),
}
"""Results of one repeated piece that nothing ends."""

TURNS: dict[str, Make] = {
    "questions": series(lambda i: f"How long does pump {i} run, and what about pump {i + 1}?", " "),
    "statements": series(lambda i: f"Item {i} costs ${3 * i + 11} for {i} minutes.", " "),
    "pronouns": series(lambda i: f"It is not theirs, they said of it, and the second one of them is {i}.", " "),
    "lists": series(lambda i: f"{i}. Pump {i}"),
    "choices": series(lambda i: f"pump {i} or", ", "),
    "cases": series(lambda i: f"for hall {i} in house {i} at site {i} on day {i} with", " "),
    "corrections": series(lambda i: f"Sorry, not {i} as I said earlier, my mistake;", " "),
    "brackets": lambda n: "(" * n,
    "marks": lambda n: "**_`" * (n // 4),
}
"""Texts of earlier turns."""


def conversation(make: Make, turns: int, length: int) -> list[dict[str, str]]:
    """Return turns of a user and an assistant."""
    content = make(length) or "x"
    return [{"role": ("user", "assistant")[place % 2], "content": content} for place in range(turns)]
