"""The metrics of two processes look like those of one."""

from collections.abc import Callable

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.openmetrics.exposition import generate_latest as openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.samples import Sample

from workers.runtime.merged_metrics import MergedMetrics

Fill = Callable[[CollectorRegistry], None]


def merged(*fills: Fill) -> dict[tuple[str, str], Sample]:
    """Return the merged samples by name and labels, read back from the text that a scrape gets.

    The second process and further ones come as text, as they do from an evaluation process.
    """
    processes = []
    for number, fill in enumerate(fills):
        registry = CollectorRegistry()
        fill(registry)
        text = openmetrics(registry).decode()
        processes.append(list(read_openmetrics(text)) if number else list(registry.collect()))
    whole = openmetrics(MergedMetrics(processes)).decode()  # type: ignore[arg-type]
    samples = [sample for metric in read_openmetrics(whole) for sample in metric.samples]
    found = {(each.name, ",".join(f"{n}={v}" for n, v in sorted(each.labels.items()))): each for each in samples}
    assert len(found) == len(samples), "a sample comes twice"
    return found


def counting(value: float, **by_agent: float) -> Fill:
    def fill(registry: CollectorRegistry) -> None:
        counter = Counter("seen", "Seen", ["agent"], registry=registry)
        for agent, count in ({"both": value} | by_agent).items():
            counter.labels(agent).inc(count)

    return fill


def test_counters_are_added_and_keep_what_only_one_process_has() -> None:
    found = merged(counting(2, assembly=5), counting(3, grounding=7))
    values = {labels: sample.value for (name, labels), sample in found.items() if name == "seen_total"}
    assert values == {"agent=both": 5, "agent=assembly": 5, "agent=grounding": 7}


def test_a_counter_began_when_its_first_process_began() -> None:
    created: list[float] = []

    def fill(registry: CollectorRegistry) -> None:
        counting(1)(registry)
        created.extend(s.value for m in registry.collect() for s in m.samples if s.name == "seen_created")

    found = merged(fill, fill)
    assert found["seen_created", "agent=both"].value == pytest.approx(min(created))


def test_buckets_are_added_and_keep_an_exemplar() -> None:
    def fill(seconds: float, trace: str) -> Fill:
        def observe(registry: CollectorRegistry) -> None:
            histogram = Histogram("took", "Took", ["agent"], buckets=(1, 10), registry=registry)
            histogram.labels("both").observe(seconds, {"trace_id": trace} if trace else None)

        return observe

    found = merged(fill(0.5, ""), fill(5, "abc"), fill(50, ""))
    bucket = {labels: sample for (name, labels), sample in found.items() if name == "took_bucket"}
    assert {labels: sample.value for labels, sample in bucket.items()} == {
        "agent=both,le=1.0": 1, "agent=both,le=10.0": 2, "agent=both,le=+Inf": 3,
    }  # fmt: skip
    exemplar = bucket["agent=both,le=10.0"].exemplar
    assert exemplar is not None
    assert exemplar.labels == {"trace_id": "abc"}
    assert (found["took_count", "agent=both"].value, found["took_sum", "agent=both"].value) == (3, 55.5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("process_resident_memory_bytes", 5), ("process_open_fds", 5), ("touchstone_records_in_flight", 5),
        ("touchstone_memory_limit_bytes", 3), ("touchstone_agent_waiting", 3),
    ],
)  # fmt: skip
def test_gauges_are_added_where_the_sum_has_a_meaning_and_else_the_highest_counts(name: str, value: float) -> None:
    def fill(set_to: float) -> Fill:
        return lambda registry: Gauge(name, "A gauge", registry=registry).set(set_to)

    assert merged(fill(2), fill(3))[name, ""].value == value
    assert merged(fill(3), fill(2))[name, ""].value == value


def test_a_metric_of_all_processes_and_one_of_a_single_process_are_there_once() -> None:
    found = merged(
        lambda registry: Info("build", "Build", registry=registry).info({"version": "1"}),
        lambda registry: Info("build", "Build", registry=registry).info({"version": "1"}),
        counting(1),
    )
    assert found["build_info", "version=1"].value == 1
    assert found["seen_total", "agent=both"].value == 1
