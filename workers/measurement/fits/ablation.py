"""Measure the worth of each part of the rules: fit again without it, by folds over sources.

A part is removed as a column of features, as a finding on a claim, or as functions that are replaced while the answers
are measured again. The functions of a part are timed in the measurement of the answers.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np

from workers.evaluation.grounding import claim_features, prepared_grounding, support
from workers.evaluation.grounding.calibration import GroundingCalibration
from workers.evaluation.grounding.claim_features import FEATURES
from workers.evaluation.grounding.grounding_evaluator import risk_by_rules
from workers.evaluation.grounding.sources.clause_evidence import ClauseFindings
from workers.evaluation.thresholds import GroundingThresholds
from workers.measurement import measured_answers
from workers.measurement.classification_metrics import fast_auroc, fast_f1
from workers.measurement.fits.fitting import fit_folds
from workers.measurement.intervals import Difference, Rows, difference
from workers.measurement.labelled_answers import LabelledRow
from workers.measurement.measured_answers import MeasuredRow, measure_row

Place = tuple[ModuleType, str]
"""A module and the name of a function as this module calls it."""


@dataclass(frozen=True, slots=True)
class AblationPart:
    """Describe a part of the rules and its removal.

    Attributes:
        content: what the part compares.
        columns: features that are 0 without it.
        found: fields of a measured claim and their values without it.
        replaced: functions that return a fixed value without it; the answers are measured again.
        timed: functions whose time is that of the part, besides the replaced ones.
    """

    content: str
    columns: tuple[str, ...] = ()
    found: Mapping[str, Any] = field(default_factory=dict)
    replaced: Mapping[Place, Any] = field(default_factory=dict)
    timed: tuple[Place, ...] = ()

    def without(self, row: MeasuredRow) -> MeasuredRow:
        """Return a measured answer without the columns and findings of the part."""
        chosen = [FEATURES.index(name) for name in self.columns]
        features = row.features.copy()
        features[:, chosen] = 0.0
        measured = [replace(claim, values=own, **self.found) for claim, own in zip(row.measured, features, strict=True)]
        return replace(row, features=features, measured=tuple(measured))


PARTS: Mapping[str, AblationPart] = {
    "similarity": AblationPart(
        "cosine of the words of claim and evidence", ("distance",), timed=((measured_answers, "similarities"),)
    ),
    "words": AblationPart(
        "words that no source has", ("unseen_share", "unseen_weight", "unseen_weight_share", "unseen_rarest")
    ),
    "together": AblationPart(
        "words that no sentence has together", ("apart", "detail_apart", "unseen_pairs", "unseen_pair_count")
    ),
    "details": AblationPart(
        "figures, dates and names that no source has",
        ("missing_numbers", "missing_dates", "missing_names"),
        {"unknown_figures": 0},
        timed=((claim_features, "missing_details"), (claim_features, "_is_calculated")),
    ),
    "records": AblationPart(
        "fields of JSON records",
        ("record_denied", "record_unknown"),
        {"denied": False},
        timed=((claim_features, "check_record"), (prepared_grounding, "read_record")),
    ),
    "contradictions": AblationPart(
        "mismatches that contradict; they stay as mismatches", found={"contradicts": False, "denied": False}
    ),
    "mismatches": AblationPart(
        "other figures, dates, names, subjects and denials",
        found={"contradicts": False, "mismatches": ()},
        timed=tuple((support, name) for name in ("_compared", "has_other_owner", "_ranked", "on_one_matter")),
    ),
    "language": AblationPart(
        "claims in other words or another language are not checked", found={"reading": "compared"}
    ),
    "clauses": AblationPart(
        "parsed clauses",
        replaced={(support, "compare_clauses"): ClauseFindings(), (support, "read_together"): None},
    ),
    "placement": AblationPart(
        "trees over the place of a value in short evidence", replaced={(support, "is_misplaced"): False}
    ),
}
"""The parts of the rules; the verifier is a part as well, see ``eval grounding --verifier``."""


@dataclass(frozen=True, slots=True)
class Worth:
    """Hold the worth of a part on a set: figures with it minus figures without it.

    Attributes:
        part: name of the part.
        set: name of the set, or "all".
        answers: number of answers with a risk.
        auroc: difference of the area under the ROC curve; ``None`` with one class.
        f1: difference of F1 of "has unsupported content", each at the threshold of its fit.
        milliseconds: CPU time of the part for an answer of the set; ``None`` if the part has no functions of its own.
    """

    part: str
    set: str
    answers: int
    auroc: Difference | None
    f1: Difference | None
    milliseconds: float | None

    @property
    def is_idle(self) -> bool:
        """Return true if the part has no measurable worth here: no interval lies above 0."""
        return all(each is None or each.low <= 0.0 for each in (self.auroc, self.f1))

    def as_dict(self) -> dict[str, Any]:
        """Return the worth for JSON, rounded."""
        return {
            "part": self.part,
            "set": self.set,
            "answers": self.answers,
            "auroc": self.auroc and self.auroc.as_list(),
            "f1": self.f1 and self.f1.as_list(),
            "milliseconds": None if self.milliseconds is None else round(self.milliseconds, 3),
        }


@dataclass(frozen=True, slots=True)
class FoldRisk:
    """Hold the risk of an answer by a fit without its source; ``None`` without a risk."""

    risk: float | None
    flagged: bool


def risks_by_folds(rows: Sequence[MeasuredRow], fitted: Sequence[MeasuredRow], words: dict[str, Any]) -> list[FoldRisk]:
    """Compute the risk of each answer by trees that were fitted without its source.

    Cut, weights and threshold of an answer, five numbers, are fitted once on the predictions of all folds: fitting them
    for each fold takes six times as long and changes the figures with and without a part alike.

    Args:
        rows: n answers.
        fitted: answers for the fits.
        words: weights of words, with which all were measured.
    """
    usable = [row for row in fitted if len(row.features)]
    found: dict[str, GroundingCalibration] = {}
    for fit in fit_folds(usable, words, "fold", *(row.row.source for row in rows)):
        found |= dict.fromkeys(fit.sources, GroundingCalibration(fit.document))
    return [_fold_risk(row, found[row.row.source]) for row in rows]


def _fold_risk(row: MeasuredRow, calibration: GroundingCalibration) -> FoldRisk:
    risk = risk_by_rules(row.prepared, row.measured, GroundingThresholds(), calibration) if row.claims else None
    return FoldRisk(risk, risk is not None and risk >= calibration.threshold)


def timed_measurement(
    rows: Sequence[LabelledRow], calibration: GroundingCalibration, tick: Callable[[], None]
) -> tuple[list[MeasuredRow], dict[str, list[float]]]:
    """Measure answers, and the CPU seconds of each part for each answer.

    Args:
        rows: n answers.
        calibration: calibration whose word weights count.
        tick: called after each answer.

    Returns:
        The measured answers, and n times for each part that has functions of its own.
    """
    clocks: dict[str, list[float]] = {name: [0.0] for name, part in PARTS.items() if part.replaced or part.timed}
    measured: list[MeasuredRow] = []
    times: dict[str, list[float]] = {name: [] for name in clocks}
    with ExitStack() as stack:
        for name, clock in clocks.items():
            for module, function in (*PARTS[name].replaced, *PARTS[name].timed):
                timed = _timed(getattr(module, function), clock)
                stack.enter_context(_with(module, function, timed))
        for row in rows:
            measured.append(measure_row(row, calibration))
            for name, clock in clocks.items():
                times[name].append(clock[0])
                clock[0] = 0.0
            tick()
    return measured, times


def measured_without(
    name: str, measured: Sequence[MeasuredRow], calibration: GroundingCalibration, tick: Callable[[], None]
) -> list[MeasuredRow]:
    """Return answers without a part; measure them again where functions are replaced.

    Args:
        name: name of the part.
        measured: the answers with it.
        calibration: calibration whose word weights count.
        tick: called after each answer.
    """
    part = PARTS[name]
    changed = []
    with ExitStack() as stack:
        for (module, function), value in part.replaced.items():
            stack.enter_context(_with(module, function, _constant(value)))
        for row in measured:
            changed.append(part.without(measure_row(row.row, calibration) if part.replaced else row))
            tick()
    return changed


def worths(
    part: str,
    rows: Sequence[LabelledRow],
    complete: Sequence[FoldRisk],
    without: Sequence[FoldRisk],
    seconds: Sequence[float] | None,
) -> list[Worth]:
    """Compare the risks with and without a part, for each set and for all together.

    Args:
        part: name of the part.
        rows: n answers.
        complete: their risks with the part.
        without: their risks without it.
        seconds: CPU seconds of the part for each answer; ``None`` if unknown.
    """
    sets = list(dict.fromkeys(row.set for row in rows))
    found = []
    for name in [*sets, "all"] if len(sets) > 1 else sets:
        chosen = [index for index, row in enumerate(rows) if name in (row.set, "all")]
        # An answer that has a risk only with or only without the part has no difference of risk.
        known = [i for i in chosen if complete[i].risk is not None and without[i].risk is not None]
        sources = [rows[index].source for index in known]
        labels = np.array([rows[index].label for index in known], dtype=bool)
        scores = [np.array([each[i].risk for i in known], dtype=np.float64) for each in (complete, without)]
        flags = [np.array([each[i].flagged for i in known], dtype=bool) for each in (complete, without)]
        own = None if seconds is None else 1_000 * sum(seconds[index] for index in chosen) / len(chosen)
        found.append(
            Worth(
                part,
                name,
                len(known),
                difference(_difference(fast_auroc, scores, labels), sources),
                difference(_difference(fast_f1, flags, labels), sources),
                own,
            )
        )
    return found


def _difference(
    measure: Callable[[Any, Any], float | None], pair: Sequence[Any], labels: Any
) -> Callable[[Rows], float | None]:
    def measured(rows: Rows) -> float | None:
        first, second = (measure(each[rows], labels[rows]) for each in pair)
        return None if first is None or second is None else first - second

    return measured


@contextmanager
def _with(module: ModuleType, name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Let a module call another function by a name within the block."""
    before = getattr(module, name)
    setattr(module, name, function)
    try:
        yield
    finally:
        setattr(module, name, before)


def _constant(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _timed(function: Callable[..., Any], clock: list[float]) -> Callable[..., Any]:
    @wraps(function)
    def timed(*arguments: Any, **named: Any) -> Any:
        started = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            clock[0] += time.process_time() - started

    return timed
