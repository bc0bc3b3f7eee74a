"""Print a comparison as tables in the terminal; text from answers is escaped."""

from collections.abc import Iterable, Sequence

from rich.table import Column, Table
from rich.text import Text

from workers.cli.output import console, printable
from workers.comparison.gates import GateResult
from workers.comparison.results import DECIDED, ChangedAnswer, Findings, Side, ordered
from workers.comparison.statistics import Agreement, Difference

MAX_SLICES = 20
"""Most slices that are shown; the JSON output contains all."""
MAX_TITLE = 120


def print_comparison(found: Findings, gates: Sequence[GateResult]) -> None:
    """Print all results of a comparison."""
    comparison = found.comparison
    console.print(f"{comparison.pairs} answers evaluated by both", highlight=False)
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        console.print(Text(_side(letter, side)), soft_wrap=True)
    moved = [each for each in found.measures if _moved(each)]
    if not moved and not comparison.moved():
        console.print("no differences")
    else:
        _measures(moved)
        for of in ("risk", "state", "reviewed"):
            if comparison.moved(of):
                _matrix(of, comparison.matrix(of))
        _decisions(found)
    _slices(found)
    _people(comparison.agreements)
    for answer in comparison.answers:
        _answer(answer)
    for gate in gates:
        outcome = "cannot be evaluated" if gate.holds is None else "FAILED" if gate.holds else "passed"
        figures = ", ".join(f"{name} = {_number(value)}" for name, value in gate.figures.items())
        _line(f"gate {outcome}: {gate.expression} ({figures})")


def _side(letter: str, side: Side) -> str:
    versions = ", ".join(f"{version} ({count})" for version, count in side.versions.items())
    return printable(f"{letter}  {side.run}: {versions or 'no answers'}; {side.alone} that the other has not", keep="")


def _moved(each: Difference) -> bool:
    return bool(each.up or each.down or each.became_null or each.no_longer_null)


def _measures(moved: Sequence[Difference]) -> None:
    nulls = any(each.became_null or each.no_longer_null for each in moved)
    table = Table()
    table.add_column("measure", no_wrap=True)
    for heading in ("A", "B", "B minus A", "95 %", "up", "down", *(("now null", "no longer") if nulls else ())):
        table.add_column(heading, no_wrap=heading == "95 %")
    for each in moved:
        low, high = _number(each.low, sign=True), _number(each.high, sign=True)
        counts = (each.up, each.down, *((each.became_null, each.no_longer_null) if nulls else ()))
        table.add_row(
            Text(printable(each.measure, keep="")), _number(each.a), _number(each.b), _number(each.difference, sign=True),
            "too few" if each.low is None else f"{low} {high}", *map(str, counts),
        )  # fmt: skip
    console.print(table)


def _matrix(of: str, matrix: dict[tuple[str, str], int]) -> None:
    columns = ordered(b for _, b in matrix)
    table = Table(f"{of}: A ↓ B →")
    for heading in _cells(columns):
        table.add_column(heading)
    for row in ordered(a for a, _ in matrix):
        table.add_row(*_cells([row, *(str(matrix.get((row, column), 0)) for column in columns)]))
    console.print(table)


def _decisions(found: Findings) -> None:
    figures = found.figures
    counts = [
        f"{(figures[name] or 0):.2%} {name.replace('_', ' ')}"
        for decided in DECIDED
        for name in (f"newly_{decided}", f"no_longer_{decided}")
        if figures[name]
    ]
    if counts:
        _line("; ".join(counts))


def _slices(found: Findings) -> None:
    left_out = found.comparison.left_out
    if not left_out:
        return
    moved = [each for each in found.slices if each.moved]
    for dimension, count in left_out.items():
        if count:
            _line(f"{count} values of {dimension} with fewer answers were left out")
    tested = sum(each.corrected is not None for each in found.slices)
    _line(f"{len(moved)} of {tested} tested slices and measures moved beyond chance (corrected for all of them)")
    if not moved:
        return
    table = Table("slice", "pairs", Column("measure", no_wrap=True), "A", "B", "B minus A", "p")
    for each in moved[:MAX_SLICES]:
        difference = each.difference
        cells = (
            f"{each.dimension} {each.value}", str(each.pairs), difference.measure, _number(difference.a),
            _number(difference.b), _number(difference.difference, sign=True), f"{each.corrected:.2g}",
        )  # fmt: skip
        table.add_row(*_cells(cells))
    console.print(table)


def _people(agreements: Sequence[Agreement]) -> None:
    for each in agreements:
        if each.cases:
            _line(
                f"people's {each.of}: {each.cases}; A right in {_number(each.a)}, B in {_number(each.b)};"
                f" only A in {each.only_a}, only B in {each.only_b}: {each.verdict}"
                + ("" if each.p_value is None else f" (p = {each.p_value:.2g})")
            )


def _answer(answer: ChangedAnswer) -> None:
    states = [f"{name} {a} → {b}" for name, (a, b) in (("state", answer.state), ("risk", answer.risk)) if a != b]
    if answer.reviewed[0] != answer.reviewed[1]:
        states.append("no longer reviewed" if answer.reviewed[0] else "newly reviewed")
    if answer.reasons[0] != answer.reasons[1]:
        states.append("reasons {} → {}".format(*(" ".join(each) or "none" for each in answer.reasons)))
    scores = [f"{name} {_number(a)} → {_number(b)}" for name, (a, b) in answer.scores.items()]
    _line(f"\n{answer.tenant}/{answer.answer_id}  {', '.join([*states, *scores])}")
    _line(f"  {answer.query[:MAX_TITLE]}")
    claims = [claim for claim in answer.claims if claim.moved]
    if claims:
        table = Table("claim", "A", "B")
        for claim in claims:
            verdicts = (_verdict(claim.verdict_a, claim.score_a), _verdict(claim.verdict_b, claim.score_b))
            table.add_row(*_cells((claim.text[:MAX_TITLE], *verdicts)))
        console.print(table)


def _verdict(verdict: str | None, score: float | None) -> str:
    return "–" if verdict is None else f"{verdict} {_number(score)}"


def _cells(texts: Iterable[str]) -> list[Text]:
    return [Text(printable(text, keep="")) for text in texts]


def _line(text: str) -> None:
    console.print(Text(printable(text, keep="\n")), soft_wrap=True)


def _number(value: float | None, *, sign: bool = False) -> str:
    if value is None:
        return "–"
    text = f"{value:{'+' if sign else ''}.4f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "+0") else text
