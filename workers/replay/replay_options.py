"""Define the options of a replay: answers, agents and name."""

import re
from bisect import bisect_right
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import from_json

from schemas.answers import GeneratedAnswer
from schemas.identifiers import CURRENT_RUN, LIVE_RUN
from schemas.reports import AgentName
from workers.decision.enrichment import JUDGES
from workers.errors import TouchstoneError

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Pattern of a name, which becomes part of topic names."""


class OffsetsUnusable(TouchstoneError):
    """A file of offsets cannot be used; the message names the reason."""


def _is_free(run: str) -> str:
    if not RUN_NAME.fullmatch(run) or run in (LIVE_RUN, CURRENT_RUN):
        raise ValueError(
            f"{run!r} is not a valid version; use at most 100 letters, digits, dots, dashes and underscores, and "
            f"neither {LIVE_RUN} nor {CURRENT_RUN}"
        )
    return run


def _is_expression(text: str | None) -> str | None:
    if text is not None:
        try:
            jmespath.compile(text)
        except JMESPathError as error:
            raise ValueError(f"the filter is not a valid JMESPath expression: {error}") from error
    return text


class ReplayOptions(BaseModel):
    """Options of a replay; stored with it, so that a resumed replay has the same ones.

    Attributes:
        run: name of the replay, of its rows in ClickHouse and at the end of its topic names.
        source: the topic, an archive of it, or a file of answers.
        path: path of the archive or file.
        digest: digest of the file, so that a changed file is refused.
        since: earliest time of records, or of completion for a file.
        until: end of the times, exclusive.
        offsets: sorted, disjoint ranges by partition: first offset, and offset after the last one.
        tenant: only answers of this tenant.
        model: only answers of this model.
        filter: JMESPath expression on the answer's JSON; answers with a false or empty result are left out.
        agents: agents that evaluate again; for the others the stored reports are used.
        memory: send answers to memory if the new decisions allow it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: Annotated[str, AfterValidator(_is_free)]
    source: Literal["topic", "archive", "answers"] = "topic"
    path: str | None = None
    digest: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    offsets: dict[int, list[tuple[int, int]]] | None = None
    tenant: str | None = None
    model: str | None = None
    filter: Annotated[str | None, AfterValidator(_is_expression)] = None
    agents: tuple[AgentName, ...] = Field(default=JUDGES, min_length=1)
    memory: bool = False

    @model_validator(mode="after")
    def _is_a_time(self) -> Self:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError("--from must be before --to")
        return self

    def differences(self, other: "ReplayOptions") -> list[str]:
        """Return the names of the options in which two replays differ."""
        return [name for name in type(self).model_fields if getattr(self, name) != getattr(other, name)]

    def holds_time(self, seconds: float) -> bool:
        """Return whether a time, in seconds since the epoch, is within the range of the replay."""
        if self.since is not None and seconds < self.since.timestamp():
            return False
        return self.until is None or seconds < self.until.timestamp()

    def holds_offset(self, partition: int, offset: int) -> bool:
        """Return whether an offset is within the range of the replay."""
        if self.offsets is None:
            return True
        ranges = self.offsets.get(partition, [])
        place = bisect_right(ranges, offset, key=lambda pair: pair[0]) - 1
        return place >= 0 and offset < ranges[place][1]

    def first_offsets(self) -> dict[int, int]:
        """Return the first requested offset of each partition."""
        return {partition: min(first for first, _ in pairs) for partition, pairs in (self.offsets or {}).items()}

    def last_offsets(self) -> dict[int, int]:
        """Return the offset after the last requested one of each partition."""
        return {partition: max(end for _, end in pairs) for partition, pairs in (self.offsets or {}).items()}


class AnswerFilter:
    """Filter of answers by their content.

    Args:
        options: tenant, model and expression.
    """

    def __init__(self, options: ReplayOptions) -> None:
        self._options = options
        self._expression = None if options.filter is None else jmespath.compile(options.filter)

    def wants(self, answer: GeneratedAnswer) -> bool:
        """Return whether the filter accepts an answer.

        Raises:
            TouchstoneError: the expression cannot be applied; the message names the answer.
        """
        options = self._options
        if options.tenant is not None and answer.tenant != options.tenant:
            return False
        if options.model is not None and answer.model.id != options.model:
            return False
        if self._expression is None:
            return True
        try:
            return bool(self._expression.search(answer.model_dump(mode="json")))
        except JMESPathError as error:
            raise TouchstoneError(f"the filter cannot be applied to answer {answer.answer_id}: {error}") from error


def read_offsets(path: Path) -> dict[int, list[tuple[int, int]]]:
    """Read the offsets of a file, by partition.

    There are two JSON forms: ranges ``{"0": [100, 250], "3": [0, 17]}``, the second number exclusive; or a list of
    single answers ``[{"partition": 0, "offset": 17}]``, the result of a query for answer_partition and answer_offset.

    Raises:
        OffsetsUnusable: the file cannot be read, or has another form.
    """
    try:
        content: Any = from_json(path.read_bytes())
    except OSError as error:
        raise OffsetsUnusable(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise OffsetsUnusable(f"{path} is not valid JSON: {error}") from error
    try:
        if isinstance(content, dict):
            found = {int(partition): [_range(pair)] for partition, pair in content.items()}
        else:
            found = {}
            for each in content:
                offset = int(each["offset"])
                found.setdefault(int(each["partition"]), []).append((offset, offset + 1))
    except (TypeError, ValueError, KeyError) as error:
        raise OffsetsUnusable(
            f'{path} must contain {{"partition": [first, after the last]}} or [{{"partition": 0, "offset": 17}}]; '
            f"{type(error).__name__}: {error}"
        ) from error
    if not found:
        raise OffsetsUnusable(f"{path} contains no offsets")
    return {partition: _merged(pairs) for partition, pairs in found.items()}


def _range(pair: Any) -> tuple[int, int]:
    first, end = (int(number) for number in pair)
    if not 0 <= first < end:
        raise ValueError(f"{pair} is not a range of offsets")
    return first, end


def _merged(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, end in sorted(pairs):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return merged
