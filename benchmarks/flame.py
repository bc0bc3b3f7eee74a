"""Where the CPU of one answer goes, as a picture: a flame graph of judgement, made by the standard library alone.

    python -m benchmarks.flame --out docs/reference/performance-flame.svg

All answers of the examples are judged in one thread with nothing in a cache. A timer of the process's CPU time
(``ITIMER_PROF``) interrupts it; the CPU spent since the interruption before is the weight of the stack that is found,
and the CPU of each stage, which is measured, is shared out by these weights. A box is a stage, below it a module of
this project that works for it, below that a library that it calls; its width is its share of the CPU. Functions of
one module stand in one box.

What it cannot see: code in C, C++ or Rust has no frames, so that it shows as the Python code that entered it, and an
interruption is handled when that returns. The timer ticks as often as the system's clock (some 250 times a second of
CPU), so boxes of less than a percent are rough. Reading the next line of the examples and the work of a worker around
judgement are not in it.
"""

import argparse
import signal
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from xml.etree import ElementTree

from benchmarks.stages import Judgement, Stopwatch, open_judgement
from benchmarks.traffic import add_options, answers_with_contexts, distinct

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ("workers", "schemas")
"""Packages whose modules are named; of others, the package is."""
INTERVAL = 0.001
"""Seconds of CPU between interruptions, if the system's clock were so fine."""

Stack = tuple[str, ...]
"""Names from the stage inwards."""

WIDTH, ROW, MARGIN, LETTER = 1200.0, 22.0, 8.0, 6.6
"""Of the picture, a row, what surrounds them, and a letter, pixels."""
SMALLEST = 0.001
"""Share of the whole below which a box is left out: it would be a pixel wide."""
COLOURS = {"stage": "#f6c48e", "project": "#f2a0a0", "library": "#b9cbe6"}


def main() -> None:
    """Measure, write the picture and print the heaviest stacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=100, help="answers (default 100)")
    add_options(parser)
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--precision", choices=["fp32", "int8"], default="int8", help="of the model (default int8)")
    parser.add_argument("--out", type=Path, required=True, help="SVG file to write")
    options = parser.parse_args()
    lines = [each.to_bytes() for each in distinct(answers_with_contexts(options.data), options.answers)]
    with tempfile.TemporaryDirectory() as folder:
        judgement = open_judgement(options.precision, Path(folder))
        stacks = sampled(judgement, lines, options.rounds)
    judged = len(lines) * options.rounds
    milliseconds = {stack: 1e3 * seconds / judged for stack, seconds in stacks.items()}
    title = f"CPU of one answer, {options.precision}, mean of {judged:,}"
    options.out.write_bytes(flame_graph(milliseconds, title))
    for stack, spent in sorted(milliseconds.items(), key=lambda item: -item[1])[:10]:
        print(f"{spent:8.2f} ms  {' > '.join(stack)}")


class Sampler:
    """CPU by stack while stages run.

    Attributes:
        watch: CPU seconds of each stage, exact.
        weights: CPU seconds that were found at each stack, by chance.
    """

    def __init__(self) -> None:
        self.watch = Stopwatch()
        self.weights: dict[Stack, float] = defaultdict(float)
        self._stage = ""
        self._last = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Interrupt this process by its CPU time until the end of the block."""
        before = signal.signal(signal.SIGPROF, self._interrupted)
        self._last = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """What runs inside counts for this stage."""
        self._stage = name
        with self.watch.stage(name):
            yield
        self._stage = ""

    def _interrupted(self, _: int, frame: FrameType | None) -> None:
        now = time.process_time()
        if self._stage:
            self.weights[(self._stage, *folded(list(_files(frame)), ROOT))] += now - self._last
        self._last = now


def shared_out(stages: Mapping[str, float], weights: Mapping[Stack, float]) -> dict[Stack, float]:
    """The cost of each stage over the stacks that were found in it, by their weights.

    Args:
        stages: cost by stage.
        weights: of stacks, which begin with their stage.

    Returns:
        Cost by stack; a stage in which nothing was found is a stack of its own.
    """
    found: dict[str, float] = defaultdict(float)
    for stack, weight in weights.items():
        found[stack[0]] += weight
    whole = {(stage,): cost for stage, cost in stages.items() if not found[stage]}
    return whole | {
        stack: stages[stack[0]] * weight / found[stack[0]] for stack, weight in weights.items() if found[stack[0]]
    }


def sampled(judgement: Judgement, lines: Sequence[bytes], rounds: int) -> dict[Stack, float]:
    """CPU seconds of judging all lines some times, by stack.

    Args:
        judgement: what judges.
        lines: answers as they stand on the topic.
        rounds: that count; one more before them warms up.
    """
    warm_up, sampler = Stopwatch(), Sampler()
    for offset, line in enumerate(lines):
        judgement.enrich(line, offset, warm_up.stage)
    with sampler.running():
        for _ in range(rounds):
            for offset, line in enumerate(lines):
                judgement.enrich(line, offset, sampler.stage)
    return shared_out(sampler.watch.seconds, sampler.weights)


def _files(frame: FrameType | None) -> Iterator[str]:
    """Files of a frame and of those that called it, outermost last."""
    while frame is not None:
        yield frame.f_code.co_filename
        frame = frame.f_back


def folded(files: Sequence[str], root: Path) -> Stack:
    """A stack by modules of the project, from the first of them inwards; what a library calls is the library's.

    Args:
        files: of the frames, innermost first.
        root: of the repository.
    """
    names: list[str] = []
    for file in reversed(files):
        name = _name(Path(file), root)
        if _of_project(name):
            # What a library calls back stands below the module that called the library.
            names = [each for each in names if _of_project(each)]
            if names[-1:] != [name]:
                names.append(name)
        elif names and _of_project(names[-1]):
            names.append(name)
    return tuple(names)


def _of_project(name: str) -> bool:
    return name.partition(".")[0] in PROJECT


def _name(file: Path, root: Path) -> str:
    if file.is_relative_to(root) and file.relative_to(root).parts[0] in PROJECT:
        return ".".join(file.relative_to(root).with_suffix("").parts)
    parts = file.parts
    if "site-packages" in parts:
        return Path(parts[parts.index("site-packages") + 1]).stem
    return file.stem if len(parts) < 2 or parts[-2].startswith("python") else parts[-2]


def flame_graph(costs: Mapping[Stack, float], title: str) -> bytes:
    """A picture of stacks, callers above what they call, the widest first; it says more of a box under the pointer.

    Args:
        costs: of each stack itself, without those that it calls, milliseconds.
        title: above the picture.

    Returns:
        An SVG document, UTF-8, which needs nothing else.
    """
    total = sum(costs.values())
    depth = max(map(len, costs))
    width, height = WIDTH + 2 * MARGIN, (depth + 2) * ROW + 2 * MARGIN
    picture = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width:g} {height:g}",
            "font-family": "Verdana, DejaVu Sans, sans-serif",
            "font-size": "11",
            "role": "img",
        },
    )
    ElementTree.SubElement(picture, "title").text = title
    ElementTree.SubElement(picture, "rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})
    heading = {"x": f"{MARGIN:g}", "y": f"{MARGIN + 15:g}", "font-size": "14"}
    ElementTree.SubElement(picture, "text", heading).text = f"{title}: {total:.1f} ms"
    _draw(picture, costs, (), MARGIN, total)
    return ElementTree.tostring(picture, encoding="utf-8", xml_declaration=True) + b"\n"


def _draw(picture: ElementTree.Element, costs: Mapping[Stack, float], stack: Stack, left: float, total: float) -> None:
    """A box for a stack, and below it those of what it calls."""
    spent = sum(costs.values())
    if spent < SMALLEST * total:
        return
    _box(picture, stack, left, spent, total)
    inner: dict[str, dict[Stack, float]] = defaultdict(dict)
    for each, cost in costs.items():
        if len(each) > len(stack):
            inner[each[len(stack)]][each] = cost
    for name, below in sorted(inner.items(), key=lambda item: -sum(item[1].values())):
        _draw(picture, below, (*stack, name), left, total)
        left += WIDTH * sum(below.values()) / total


def _box(picture: ElementTree.Element, stack: Stack, left: float, spent: float, total: float) -> None:
    name = stack[-1] if stack else "all stages"
    kind = "stage" if len(stack) < 2 else "project" if _of_project(name) else "library"
    wide, top = WIDTH * spent / total, MARGIN + (len(stack) + 1) * ROW
    box = ElementTree.SubElement(picture, "g")
    ElementTree.SubElement(box, "title").text = f"{name}: {spent:.2f} ms, {spent / total:.1%}"
    shape = {"x": f"{left:.1f}", "y": f"{top:g}", "width": f"{wide:.1f}", "height": f"{ROW - 1:g}"}
    ElementTree.SubElement(box, "rect", {**shape, "fill": COLOURS[kind], "stroke": "#ffffff", "stroke-width": "0.5"})
    room = int((wide - 6) / LETTER)
    # What the package is called is the first thing that a narrow box can do without.
    short = name if len(name) <= room else name.removeprefix("workers.").rpartition("steps.")[2]
    if room >= 3:
        text = short if len(short) <= room else f"{short[: room - 1]}…"
        ElementTree.SubElement(box, "text", {"x": f"{left + 3:.1f}", "y": f"{top + 15:g}"}).text = text


if __name__ == "__main__":
    main()
