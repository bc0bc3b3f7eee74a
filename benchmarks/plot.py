"""Draw the results of the performance benchmarks from their JSON files.

    touchstone bench pipeline --json pipeline.json
    python -m benchmarks.plot pipeline.json --out docs/reference/performance.svg

Takes the documents of ``pipeline`` (latency), ``seed`` (ratio), ``limit`` (tokens a second), ``scale``, ``growth`` and
``slopes`` (workers, growth of judgement, cost by what is stored), in any number; each gives its panels, and what is not given is not drawn. Documents of
``seed`` are told apart by the names of their files.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 3
PERCENTILES = ("p50", "p95", "p99")
Documents = Sequence[tuple[str, Mapping[str, Any]]]
"""Contents of files with their names."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Describe a panel of the picture.

    Attributes:
        title: above it.
        draw: draws it into axes.
    """

    title: str
    draw: Callable[["Axes"], None]


def main() -> None:
    """Read the results, draw them and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="JSON that a benchmark wrote")
    parser.add_argument("--out", type=Path, required=True, help="SVG file to write")
    options = parser.parse_args()
    documents = [(file.stem, json.loads(file.read_text(encoding="utf-8"))) for file in options.files]
    draw(list(panels(documents)), options.out)


def panels(documents: Documents) -> Iterator[Panel]:
    """Yield the panels of documents in a fixed order.

    Raises:
        SystemExit: a document is of none of the benchmarks that are drawn.
    """
    for name, document in documents:
        if not {"latency", "distinct", "tokens_per_second", "workers", "growth", "slopes"} & set(document):
            raise SystemExit(f"{name}: not written by the benchmarks pipeline, seed, limit, scale, growth or slopes")
    seeds = {name: document for name, document in documents if "distinct" in document}
    if seeds:
        yield Panel("Answers a second, against the baseline detector", lambda axes: _ratios(axes, seeds))
    for _, document in documents:
        if "tokens_per_second" in document:
            yield Panel("Tokens a second by backend", lambda axes, of=document: _tokens(axes, of["tokens_per_second"]))
        if "latency" in document:
            for layout, rows in document["latency"].items():
                title = f"Latency by share of the highest rate, {layout}"
                yield Panel(title, lambda axes, of=rows: _latency(axes, of))
        if "workers" in document:
            title = f"Answers a second by workers, {document['cores']} cores"
            yield Panel(title, lambda axes, of=document: _workers(axes, of["workers"]))
        for part, sizes in document.get("slopes", {}).items():
            yield Panel(f"Milliseconds by size, {part.replace('_', ' ')}", lambda axes, of=sizes: _slopes(axes, of))
        for along in dict.fromkeys(row["along"] for row in document.get("growth", ())):
            rows = [row for row in document["growth"] if row["along"] == along]
            yield Panel(f"CPU of judgement by {along}", lambda axes, of=rows: _growth(axes, of))


def draw(drawn: Sequence[Panel], path: Path) -> None:
    """Write panels as SVG, the same bytes for the same figures."""
    import matplotlib
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(drawn))
    lines = -(-len(drawn) // columns)
    # Letters as outlines look alike everywhere; the salt names what is reused, at random without it.
    with matplotlib.rc_context({"svg.hashsalt": "touchstone", "font.size": 8, "axes.titlesize": 9}):
        figure = Figure(figsize=(4.2 * columns, 3.1 * lines), layout="constrained")
        for place, panel in enumerate(drawn, 1):
            axes = figure.add_subplot(lines, columns, place)
            axes.set_title(panel.title)
            panel.draw(axes)
        figure.savefig(path, format="svg", metadata={"Date": None})


def ratios(document: Mapping[str, Any]) -> dict[str, float]:
    """Return the ratio of the project's rate to the baseline's, by traffic."""
    return {traffic: document[traffic]["ours"] / document[traffic]["seed"] for traffic in ("distinct", "repeated")}


def _ratios(axes: "Axes", documents: Mapping[str, Mapping[str, Any]]) -> None:
    found = [
        (f"{name}, {traffic}" if len(documents) > 1 else traffic, ratio)
        for name, document in documents.items()
        for traffic, ratio in ratios(document).items()
    ]
    bars = axes.barh([label for label, _ in found], [ratio for _, ratio in found])
    axes.bar_label(bars, fmt="%.1f", padding=2)
    axes.axvline(1.0, color="0.5", linestyle=":")
    axes.set(xlabel="times the baseline's rate")
    axes.margins(x=0.15)
    axes.invert_yaxis()


def _tokens(axes: "Axes", rates: Mapping[str, float]) -> None:
    bars = axes.barh(list(rates), list(rates.values()))
    axes.bar_label(bars, fmt="{:,.0f}", padding=2)
    axes.margins(x=0.2)
    axes.invert_yaxis()


def _latency(axes: "Axes", rows: Sequence[Mapping[str, float]]) -> None:
    shares = [f"{row['share']:.0%}" for row in rows]
    for percentile in PERCENTILES:
        axes.plot(shares, [1e3 * row[percentile] for row in rows], "o-", label=percentile)
    axes.set(ylabel="milliseconds", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend()


def _workers(axes: "Axes", rows: Sequence[Mapping[str, float]]) -> None:
    counts, rates = [row["workers"] for row in rows], [row["answers_per_second"] for row in rows]
    axes.plot(counts, rates, "o-", label="measured")
    axes.plot(counts, [rates[0] * count / counts[0] for count in counts], ":", color="0.5", label="in proportion")
    axes.set(xlabel="workers", ylabel="answers a second", xticks=counts, ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend()


def _slopes(axes: "Axes", sizes: Mapping[str, Mapping[str, float]]) -> None:
    for name in next(iter(sizes.values())):
        if name.endswith("_ms"):
            label = name.removesuffix("_ms").replace("_", " ")
            axes.plot([int(size) for size in sizes], [figures[name] for figures in sizes.values()], "o-", label=label)
    axes.set(xlabel="stored", ylabel="milliseconds", xscale="log", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend()


def _growth(axes: "Axes", rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        label = f"{row['evidence']}, exponent {row['exponents']['all']:.2f}"
        axes.plot(row["sizes"], row["cpu_ms"]["all"], "o-", label=label)
    axes.set(xlabel=rows[0]["along"], ylabel="milliseconds", yscale="log")
    axes.set_xscale("log", base=2)
    axes.grid(alpha=0.3)
    axes.legend()


if __name__ == "__main__":
    main()
