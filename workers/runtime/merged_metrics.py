"""Merge the metrics of the processes of one worker, so that they look like those of one process.

Counters and histograms are added. Gauges have a label that differs by process, such as the agent, so they rarely meet;
those that do are added or the highest one counts.
"""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import Metric
from prometheus_client.samples import Sample

ADDED_GAUGES = frozenset(
    {
        "process_open_fds",
        "process_resident_memory_bytes",
        "process_virtual_memory_bytes",
        "touchstone_records_in_flight",
    }
)
"""Gauges that processes add up. Of any other gauge, such as a limit, the highest value counts."""

ADDED_TYPES = frozenset({"counter", "histogram"})

Place = tuple[str, tuple[tuple[str, str], ...]]


class MergedMetrics:
    """Collect merged metrics, for the encoders of prometheus_client.

    Args:
        processes: metrics of each process.
    """

    def __init__(self, processes: Sequence[Iterable[Metric]]) -> None:
        self._processes = processes

    def collect(self) -> Iterator[Metric]:
        """Yield each metric once."""
        merged: dict[str, Metric] = {}
        samples: dict[str, dict[Place, Sample]] = {}
        for metric in (metric for process in self._processes for metric in process):
            merged.setdefault(metric.name, metric)
            kept = samples.setdefault(metric.name, {})
            added = metric.type in ADDED_TYPES or metric.name in ADDED_GAUGES
            for sample in metric.samples:
                place = (sample.name, tuple(sorted(sample.labels.items())))
                kept[place] = _merge(kept[place], sample, added) if place in kept else sample
        for name, metric in merged.items():
            whole = Metric(name, metric.documentation, metric.type, metric.unit)
            whole.samples = _ordered(samples[name].values())
            yield whole


def _merge(first: Sample, second: Sample, added: bool) -> Sample:
    if first.name.endswith("_created"):
        value = min(first.value, second.value)
    elif added:
        value = first.value + second.value
    else:
        value = max(first.value, second.value)
    return first._replace(value=value, exemplar=first.exemplar or second.exemplar)


def _ordered(samples: Iterable[Sample]) -> list[Sample]:
    """Return samples with those of the same labels side by side, as OpenMetrics demands; buckets keep their order."""
    groups: dict[tuple[tuple[str, str], ...], list[Sample]] = {}
    for sample in samples:
        labels = tuple(sorted((name, value) for name, value in sample.labels.items() if name != "le"))
        groups.setdefault(labels, []).append(sample)
    return [sample for group in groups.values() for sample in group]
