"""Measure the CPU time of the evaluation of one answer."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from workers.process.line_files import LineFile
from workers.settings import Settings

MEASURED_ANSWERS = 25
"""Answers whose CPU time is measured: about two seconds of one core."""


def evaluation_cpu(settings: Settings, path: Path, answers: int = MEASURED_ANSWERS) -> float:
    """Measure the CPU time of one answer's evaluation, with all evaluators and the embedding model.

    The answers are evaluated one after the other in this process while no agent runs, because the durations in the
    reports contain the wait for the other answers of a batch.

    Args:
        settings: all settings.
        path: file of answers as JSON lines, of which at least one can be sent; lines that are no answers are left out.
        answers: number of answers to measure, spread over the file.

    Returns:
        Median over the answers, milliseconds, with the model on one thread.
    """
    # Loads PyTorch, which a summary without this figure does not need.
    from workers.pipeline.local_pipeline import LocalPipeline

    read = list(_answers(path, settings.files.max_line_bytes))
    chosen = read[:: max(1, len(read) // answers)][:answers]
    # One thread: the threads of a model spin while they wait for each other, which would count as cost.
    pipeline = LocalPipeline(
        settings.model_copy(update={"inference": settings.inference.model_copy(update={"threads": 1})})
    )
    pipeline.evaluate(chosen[0])  # the first call allocates buffers
    seconds = []
    for answer in chosen:
        started = time.process_time()
        pipeline.evaluate(answer)
        seconds.append(time.process_time() - started)
    return 1_000 * median(seconds)


def _answers(path: Path, max_line_bytes: int) -> Iterator[GeneratedAnswer]:
    with LineFile(str(path), max_line_bytes) as source:
        for _, line in source.numbered_lines():
            with suppress(UnreadableEvent):
                yield GeneratedAnswer.from_bytes(line)
