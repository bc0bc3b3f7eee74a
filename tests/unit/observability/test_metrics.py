"""Metrics: one prefix, base units, and labels whose values are few."""

import inspect
import re

import pytest
from prometheus_client import Counter, Gauge, Histogram, Info, generate_latest
from prometheus_client.metrics import MetricWrapperBase

from workers.observability import metrics

DECLARED = {name: value for name, value in inspect.getmembers(metrics) if isinstance(value, MetricWrapperBase)}
ALL = pytest.mark.parametrize("metric", DECLARED.values(), ids=DECLARED)

FEW = {
    "agent", "topic", "partition", "error", "reason", "stage", "risk_level", "status", "state", "missing", "kind",
    "result", "sink", "table", "limit", "verdict", "action",
    "ruling", "held", "evaluator",
}  # fmt: skip
"""Labels whose values are counted on few hands; identifiers, sessions, tenants, models and texts are not among them."""

BOUNDED = {metrics.QUOTA_REFUSED: {"tenant"}}
"""Labels of single metrics whose values the settings bound: tenants that they name, and "other" for all others."""

NOT_BASE_UNITS = re.compile(r"(milliseconds|_ms|_minutes|_kilobytes|_kb|_megabytes|_mb|_percent)(_|$)")


@ALL
def test_names_have_the_prefix_and_are_well_formed(metric: MetricWrapperBase) -> None:
    assert re.fullmatch(r"touchstone_[a-z][a-z0-9_]*", metric._name)
    assert metric._documentation


@ALL
def test_units_are_base_units_in_the_name(metric: MetricWrapperBase) -> None:
    assert not NOT_BASE_UNITS.search(metric._name)
    text = metric._documentation.lower()
    if isinstance(metric, Histogram) and (text.startswith("time ") or "duration" in metric._name):
        assert metric._name.endswith("_seconds")


@ALL
def test_labels_hold_no_identifiers(metric: MetricWrapperBase) -> None:
    assert set(metric._labelnames) <= FEW | BOUNDED.get(metric, set())


@ALL
def test_kinds_are_named_as_prometheus_asks(metric: MetricWrapperBase) -> None:
    described = [family.name for family in metric.describe()]
    assert len(described) == 1
    if isinstance(metric, Gauge | Histogram | Info):
        assert not metric._name.endswith("_total")
    if isinstance(metric, Counter) and not metric._labelnames:
        assert f"{described[0]}_total" in generate_latest().decode()


@ALL
def test_buckets_grow_and_end_in_infinity(metric: MetricWrapperBase) -> None:
    if isinstance(metric, Histogram):
        bounds = metric._upper_bounds
        assert bounds == sorted(set(bounds))
        assert bounds[-1] == float("inf")


@ALL
def test_a_gauge_is_not_exported_before_its_first_value(metric: MetricWrapperBase) -> None:
    """A gauge without labels is 0 in every process, also where nothing sets it."""
    if isinstance(metric, Gauge):
        assert metric._labelnames


def test_no_name_is_used_twice() -> None:
    names = [metric._name for metric in DECLARED.values()]
    assert len(set(names)) == len(names)


def test_the_metrics_of_the_seed_are_there() -> None:
    names = {metric._name for metric in DECLARED.values()}
    assert {
        "touchstone_response_processing_duration_seconds",
        "touchstone_response_quality_score",
        "touchstone_hallucination_risk",
    } <= names
