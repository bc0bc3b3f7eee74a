"""Judging whole answers in one go: all three steps and what is put together of them, without a broker.

The agents do the same, each for itself; the steps, the reports and the joining are theirs. Used where
answers are at hand and nobody waits for a topic: replay, and judging of files.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.quality import EarlierAnswer
from schemas.reports import AgentName, Report
from workers.agents.assembly import put_together
from workers.agents.citations import CITATIONS_JUDGE
from workers.agents.grounding import grounding_judge
from workers.agents.judging import Judge, Origin, failed_findings, make_report
from workers.agents.quality import quality_judge
from workers.delivery.errors import JudgementError
from workers.delivery.records import Record
from workers.inference.embedding import Vector
from workers.settings import Settings
from workers.steps.enrichment import JUDGES
from workers.steps.grounding import Verdicts
from workers.steps.trimming import fit_report
from workers.steps.verification import VerifierPair


@dataclass(slots=True)
class PreparedAnswer:
    """An answer made ready for every step.

    Attributes:
        answer: what is judged.
        record: where it stood.
        stored: reports that are taken as they are.
        prepared: by agent, what its step needs.
        failures: by agent, why it could not be prepared or embedded.
        seconds: by agent, how long it has taken so far.
        weighed: by agent, what is left to a verifier.
    """

    answer: GeneratedAnswer
    record: Record
    stored: Mapping[AgentName, Report]
    prepared: dict[AgentName, Any] = field(default_factory=dict)
    failures: dict[AgentName, Exception] = field(default_factory=dict)
    seconds: dict[AgentName, float] = field(default_factory=dict)
    weighed: dict[AgentName, Any] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """Distinct texts whose vectors the steps need."""
        return list(dict.fromkeys(text for prepared in self.prepared.values() for text in prepared.texts))


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """What was found.

    Attributes:
        record: where the answer stood.
        reports: those made now, each with its bytes.
        enriched: everything put together.
        value: its bytes.
    """

    record: Record
    reports: Sequence[tuple[Report, bytes]]
    enriched: EnrichedAnswer
    value: bytes


class AnswerJudge:
    """Judges answers as the agents of these settings would.

    Args:
        settings: all settings.
        agents: whose steps; the reports of the others are given.
    """

    def __init__(self, settings: Settings, agents: Iterable[AgentName] = JUDGES) -> None:
        judges = (CITATIONS_JUDGE, grounding_judge(settings), quality_judge(settings))
        chosen = set(agents)
        self._judges: tuple[Judge, ...] = tuple(judge for judge in judges if judge.agent in chosen)
        self._settings = settings

    def prepare(
        self,
        answer: GeneratedAnswer,
        record: Record,
        earlier: Sequence[EarlierAnswer] = (),
        stored: Mapping[AgentName, Report] | None = None,
    ) -> PreparedAnswer:
        """Make an answer ready.

        Args:
            answer: what is judged.
            record: where it stood.
            earlier: what was remembered of earlier answers.
            stored: reports of the agents whose steps are left out.
        """
        case = PreparedAnswer(answer, record, stored or {})
        for judge in self._judges:
            started = time.perf_counter()
            try:
                given = (list(earlier),) if judge.agent == "quality" else ()
                case.prepared[judge.agent] = judge.prepare(answer, *given)
            except Exception as error:
                case.failures[judge.agent] = error
            case.seconds[judge.agent] = time.perf_counter() - started
        return case

    @property
    def verifies(self) -> bool:
        """Whether a verifier is to be asked what :meth:`weigh` returns, before an answer is judged."""
        return any(judge.verified is not None for judge in self._judges)

    def weigh(self, case: PreparedAnswer, vectors: Mapping[str, Vector] | JudgementError) -> list[VerifierPair]:
        """Judge as far as it can be done without a verifier.

        Args:
            case: the answer.
            vectors: of its texts, or why there are none.

        Returns:
            Distinct pairs that the verifier is to be asked.
        """
        questions: dict[VerifierPair, None] = {}
        for judge in self._judges:
            if judge.verified is None or judge.agent in case.failures or isinstance(vectors, JudgementError):
                continue
            started = time.perf_counter()
            try:
                case.weighed[judge.agent] = judge.verified.weigh(case.prepared[judge.agent], vectors)
                questions |= dict.fromkeys(case.weighed[judge.agent].questions)
            except Exception as error:
                case.failures[judge.agent] = error
            case.seconds[judge.agent] += time.perf_counter() - started
        return list(questions)

    def judge(
        self,
        case: PreparedAnswer,
        vectors: Mapping[str, Vector] | JudgementError,
        origin: Origin,
        verdicts: Verdicts | JudgementError | None = None,
    ) -> JudgedAnswer:
        """Judge a prepared answer.

        Args:
            case: the answer; weighed before, where a verifier is asked.
            vectors: of its texts, or why there are none: what needs them has failed then.
            origin: version, run and time.
            verdicts: the verifier's on what was asked, or why there are none: the rules judge alone then.
        """
        made = [self._report(judge, case, vectors, origin, verdicts or {}) for judge in self._judges]
        reports: dict[str, Report] = {report.agent: report for report in case.stored.values()}
        reports |= {report.agent: report for report, _ in made}
        enriched, value = put_together(case.answer, reports, case.record, origin)
        return JudgedAnswer(case.record, made, enriched, value)

    def _report(
        self,
        judge: Judge,
        case: PreparedAnswer,
        vectors: Mapping[str, Vector] | JudgementError,
        origin: Origin,
        verdicts: Verdicts | JudgementError,
    ) -> tuple[Report, bytes]:
        started, findings, failure = time.perf_counter(), None, case.failures.get(judge.agent)
        if failure is None and judge.embeds and isinstance(vectors, JudgementError):
            failure = vectors
        if failure is None:
            known = {} if isinstance(vectors, JudgementError) else vectors
            try:
                if judge.verified is None:
                    findings = judge.judge(case.prepared[judge.agent], known)
                else:
                    findings = judge.verified.judge(case.weighed[judge.agent], verdicts)
            except Exception as error:
                failure = error
        findings = findings or failed_findings(judge, case.answer, failure)
        seconds = case.seconds[judge.agent] + time.perf_counter() - started
        report = make_report(judge, case.answer, case.record, findings, seconds, origin)
        return fit_report(report, self._settings.kafka.max_record_bytes * 9 // 10)
