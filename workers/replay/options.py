"""What a replay is asked for: which answers, by which agents, under which name."""

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
from workers.delivery.errors import TouchstoneError
from workers.steps.enrichment import JUDGES

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""It becomes a part of topics' names."""


class OffsetsUnusable(TouchstoneError):
    """A file of offsets cannot be used; the message says why."""


def _is_free(run: str) -> str:
    if not RUN_NAME.fullmatch(run) or run in (LIVE_RUN, CURRENT_RUN):
        raise ValueError(
            f"a version is named with letters, digits, dots, dashes and underscores, at most 100, and is neither "
            f"{LIVE_RUN} nor {CURRENT_RUN}; {run!r} is not"
        )
    return run


def _is_expression(text: str | None) -> str | None:
    if text is not None:
        try:
            jmespath.compile(text)
        except JMESPathError as error:
            raise ValueError(f"the filter is no JMESPath expression: {error}") from error
    return text


class ReplayOptions(BaseModel):
    """What is replayed; kept with the replay, so that going on means going on with the same.

    Attributes:
        run: name of the replay: of its rows in ClickHouse and at the end of its topics' names.
        source: the topic, an archive of it, or a file of answers.
        path: of the archive or file.
        digest: of the file, so that another one is not taken for its rest.
        since: records of that time or later; of a file, answers complete then.
        until: records before that time.
        offsets: by partition, pairs of first offset and the one behind the last, in order and apart.
        tenant: of that tenant only.
        model: of that model only.
        filter: a JMESPath expression over the answer's JSON; what it finds false or empty is left out.
        agents: whose judgements are made again; those of others are taken from the stored reports.
        memory: whether what the new decisions let be remembered is sent to memory.
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
            raise ValueError("--from is not before --to; give a time in which something can lie")
        return self

    def differences(self, other: "ReplayOptions") -> list[str]:
        """Names of the options in which two replays differ."""
        return [name for name in type(self).model_fields if getattr(self, name) != getattr(other, name)]

    def holds_time(self, seconds: float) -> bool:
        """Whether a time, in seconds since the epoch, is within what is asked for."""
        if self.since is not None and seconds < self.since.timestamp():
            return False
        return self.until is None or seconds < self.until.timestamp()

    def holds_offset(self, partition: int, offset: int) -> bool:
        """Whether an offset is among those asked for."""
        if self.offsets is None:
            return True
        ranges = self.offsets.get(partition, [])
        place = bisect_right(ranges, offset, key=lambda pair: pair[0]) - 1
        return place >= 0 and offset < ranges[place][1]

    def first_offsets(self) -> dict[int, int]:
        """The first offset of each partition that is asked for by offset."""
        return {partition: min(first for first, _ in pairs) for partition, pairs in (self.offsets or {}).items()}

    def last_offsets(self) -> dict[int, int]:
        """The offset behind the last one of each partition that is asked for by offset."""
        return {partition: max(end for _, end in pairs) for partition, pairs in (self.offsets or {}).items()}


class AnswerFilter:
    """Which answers are wanted, by what they say.

    Args:
        options: tenant, model and expression.
    """

    def __init__(self, options: ReplayOptions) -> None:
        self._options = options
        self._expression = None if options.filter is None else jmespath.compile(options.filter)

    def wants(self, answer: GeneratedAnswer) -> bool:
        """Whether an answer is wanted.

        Raises:
            TouchstoneError: the expression cannot be applied to it; it names the answer.
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
    """Offsets of a file, by partition.

    Two forms, both JSON: ranges ``{"0": [100, 250], "3": [0, 17]}``, the second number not included; or a
    list of single answers ``[{"partition": 0, "offset": 17}]``, as a query of answer_partition and
    answer_offset gives it.

    Raises:
        OffsetsUnusable: it cannot be read, or is of another form.
    """
    try:
        content: Any = from_json(path.read_bytes())
    except OSError as error:
        raise OffsetsUnusable(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise OffsetsUnusable(f"{path} is no JSON: {error}") from error
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
            f'{path} must hold {{"partition": [first, behind the last]}} or [{{"partition": 0, "offset": 17}}]; '
            f"{type(error).__name__}: {error}"
        ) from error
    if not found:
        raise OffsetsUnusable(f"{path} names no offset")
    return {partition: _merged(pairs) for partition, pairs in found.items()}


def _range(pair: Any) -> tuple[int, int]:
    first, end = (int(number) for number in pair)
    if not 0 <= first < end:
        raise ValueError(f"{pair} is no range of offsets")
    return first, end


def _merged(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, end in sorted(pairs):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return merged
