"""Answers judged with a verifier whose word the test decides: in the stream, in a check, in files and in replays."""

import json
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.grounding import GroundingReport
from tests.unit.test_verified_grounding import SURE
from tests.unit.test_verifier_combination import DOCUMENT
from workers import metrics
from workers.addresses import Addresses
from workers.agents.grounding import grounding_judge
from workers.agents.judging import Origin, judging_handler
from workers.agents.whole import AnswerJudge
from workers.app import Worker
from workers.checking import service as service_module
from workers.checking.models import AnswerToCheck, CheckedAnswer
from workers.checking.service import CheckService
from workers.commands.judging import LocalJudge
from workers.console.opening import opened_resources
from workers.delivery.errors import InferenceFailed
from workers.delivery.records import Record, Work
from workers.inference import opening
from workers.inference.embedding import EmbeddingService
from workers.inference.verification import VerificationService
from workers.inference.verifying import Verdict, VerifierUnusable, file_version
from workers.replay.opening import Listeners, open_replay
from workers.replay.options import ReplayOptions
from workers.replay.replaying import Replay, _Part
from workers.settings import InferenceSettings, Settings
from workers.steps.enrichment import completeness
from workers.steps.thresholds import GroundingThresholds
from workers.steps.verification import VerifierPair
from workers.stores.replays import ReplayRow
from workers.versions import differences, pipeline_version, version_parts

NOW = datetime(2026, 11, 2, tzinfo=UTC)
ANSWER = {
    "answer_id": "a-1",
    "query": "How fast does the rotor turn?",
    "answer": "The rotor turns at 47 rpm [1]. Workshop staff enjoy sunny holidays abroad [1].",
    "contexts": [{"chunk_id": "c-1", "content": "The rotor turns at 47 rpm. The cover is painted green."}],
    "completed_at": NOW.isoformat(),
    "risk_mode": "observer",
}


class Texts:
    """An embedding model with a vector of its own for every text."""

    name, dimensions = "model-under-test", 64

    def encode(self, texts: Sequence[str]) -> Any:
        rows = np.stack([np.random.default_rng(sum(map(ord, text))).standard_normal(64) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class Oracle:
    """A verifier that says what the test wants."""

    name, version = "oracle", "1"

    def __init__(self, supported: float = 0.999) -> None:
        self.supported = supported
        self.fails = False
        self.pairs: list[VerifierPair] = []
        self.go_on = threading.Event()
        self.go_on.set()

    def score(self, pairs: Sequence[VerifierPair]) -> Verdict:
        self.pairs += pairs
        assert self.go_on.wait(30)
        if self.fails:
            raise RuntimeError("out of order")
        return np.tile(np.array([self.supported, 0.0, 1 - self.supported], dtype=np.float32), (len(pairs), 1))


@pytest.fixture
def combination(tmp_path: Path) -> Path:
    path = tmp_path / "combination.json"
    path.write_text(json.dumps(DOCUMENT | {"lower": -50.0, "upper": 50.0, "texts": SURE}), encoding="utf-8")
    return path


@pytest.fixture
def with_verifier(combination: Path, tmp_path: Path) -> Settings:
    grounding = {"verifier": "org/oracle", "verifier_combination": combination}
    return Settings(_env_file=None, grounding=grounding, state_dir=tmp_path)


class Services:
    """Both models behind their services."""

    def __init__(self, oracle: Oracle, **inference: float) -> None:
        self.oracle = oracle
        settings = InferenceSettings.model_validate(inference)
        self.embedding = EmbeddingService(Texts(), settings)
        self.verifier = VerificationService(oracle, settings)
        self.embedding.start()
        self.verifier.start()

    async def stop(self) -> None:
        self.oracle.go_on.set()
        await self.embedding.stop()
        await self.verifier.stop()

    async def report(self, settings: Settings, answer: dict[str, Any]) -> GroundingReport:
        """What the agent says of an answer."""
        resources: Any = SimpleNamespace(
            settings=settings, pipeline_version="1", now=lambda: NOW, embedding=self.embedding,
            verifier=self.verifier if settings.grounding.has_verifier else None, steps_pool=ThreadPoolExecutor(1),
        )  # fmt: skip
        handle = judging_handler(grounding_judge(settings), resources)
        value = GeneratedAnswer.model_validate(answer).to_bytes()
        ((output,),) = await handle([Work(Record("answers.generated", 0, 0, None, value))])
        return GroundingReport.from_bytes(output.value)


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    made = Services(Oracle())
    yield made
    await made.stop()


def counted(result: str) -> float:
    return float(metrics.VERIFICATIONS.labels(result)._value.get())


# --- in the stream -----------------------------------------------------------------------------


async def test_the_agents_verdicts_are_those_of_the_verifier_where_the_rules_leave_it_open(
    services: Services, with_verifier: Settings
) -> None:
    before = counted("asked")
    report = await services.report(with_verifier, ANSWER)
    assert [claim.verdict for claim in report.claims] == ["supported", "supported"]
    assert [claim.verifier_score for claim in report.claims] == pytest.approx([0.999, 0.999])
    assert report.without_verifier is None
    assert report.versions["verifier"].startswith("org/oracle@")
    combination = with_verifier.grounding.verifier_combination
    assert combination is not None
    assert report.versions["verifier.combination"] == file_version(combination)[:12]
    assert counted("asked") == before + 1
    services.oracle.supported = 0.001
    report = await services.report(
        with_verifier, ANSWER | {"answer": "Workshop people enjoy sunny holidays abroad [1]."}
    )
    assert [claim.verdict for claim in report.claims] == ["unsupported"]


async def test_an_answer_without_open_claims_asks_nothing(services: Services, with_verifier: Settings) -> None:
    before = counted("not_asked")
    report = await services.report(with_verifier, ANSWER | {"answer": "Hello! How may I help you?"})
    assert report.status == "ok" and services.oracle.pairs == []
    assert counted("not_asked") == before + 1


async def test_a_verifier_that_fails_leaves_the_judgement_to_the_rules_and_it_is_told(
    services: Services, with_verifier: Settings
) -> None:
    rules = await services.report(Settings(_env_file=None), ANSWER)
    assert services.oracle.pairs == [], "without one nothing is asked"
    services.oracle.fails = True
    before = counted("failed")
    with capture_logs() as logs:
        report = await services.report(with_verifier, ANSWER)
    assert counted("failed") == before + 1
    assert (report.status, report.without_verifier) == ("ok", "the model oracle raised RuntimeError")
    assert [line for line in logs if line["event"] == "claims_not_verified"] == [
        {"event": "claims_not_verified", "log_level": "warning", "answer_id": "a-1", "reason": report.without_verifier}
    ]
    assert report.claims == rules.claims
    assert (report.risk_score, report.hallucination_risk) == (rules.risk_score, rules.hallucination_risk)
    assert rules.without_verifier is None and "verifier" not in rules.versions
    # So that the complete one replaces it, whichever comes last.
    assert completeness([report]) < completeness([rules])


async def test_a_verifier_that_hangs_is_waited_for_no_longer_than_its_deadline(with_verifier: Settings) -> None:
    services = Services(Oracle(), timeout_seconds=0.2)
    services.oracle.go_on.clear()
    try:
        report = await services.report(with_verifier, ANSWER)
        assert "within 0.2 s" in (report.without_verifier or "")
        assert len(report.claims) == 2
    finally:
        await services.stop()


# --- whole answers -----------------------------------------------------------------------------


def local(settings: Settings, oracle: Oracle | None) -> EnrichedAnswer:
    return LocalJudge(settings, Texts(), oracle).judge(GeneratedAnswer.model_validate(ANSWER))


async def test_files_are_judged_as_the_stream_judges(services: Services, with_verifier: Settings) -> None:
    judged = local(with_verifier, Oracle()).grounding
    report = await services.report(with_verifier, ANSWER)
    assert judged is not None
    assert (judged.claims, judged.risk_score) == (report.claims, report.risk_score)


def test_without_verdicts_or_weighing_no_answer_is_judged_in_silence(with_verifier: Settings) -> None:
    judge = AnswerJudge(with_verifier)
    assert judge.verifies and not AnswerJudge(Settings(_env_file=None)).verifies
    case = judge.prepare(GeneratedAnswer.model_validate(ANSWER), Record("file", 0, 0, b"a-1", None))
    vectors = dict(zip(case.texts, Texts().encode(case.texts), strict=True))
    origin = Origin(with_verifier, "1", NOW)
    assert judge.judge(case, vectors, origin).enriched.failed == ["grounding"]
    assert judge.weigh(case, vectors)
    enriched = judge.judge(case, vectors, origin, InferenceFailed("it is away")).enriched
    assert enriched.failed == [] and enriched.grounding is not None
    assert enriched.grounding.without_verifier == "it is away"
    assert (enriched.degraded, enriched.rank) == (False, 3)


async def test_a_replay_asks_the_verifier_and_does_without_one_that_fails(
    services: Services, with_verifier: Settings
) -> None:
    nothing: Any = None
    stored: Any = SimpleNamespace(of=lambda answer_id: None)
    selection: Any = SimpleNamespace(unerased=lambda earlier: earlier)
    replay = Replay(
        with_verifier, ReplayOptions(run="v"), source=nothing, selection=selection, stored=stored,
        embedding=services.embedding, verifier=services.verifier, outputs=nothing, store=nothing,
        row=ReplayRow("v", "1", "{}", "running", NOW, NOW), erasures=nothing, throttle=nothing, progress=nothing,
    )  # fmt: skip
    case = (GeneratedAnswer.model_validate(ANSWER), Record("answers.generated", 0, 0, b"a-1", None))
    report = await services.report(with_verifier, ANSWER)

    async def replayed(*cases: Any) -> list[GroundingReport | None]:
        done = await replay._work(_Part(0, 1, cases, Counter()))
        return [judged.enriched.grounding for judged in done.judged]

    (found,) = await replayed(case)
    assert found is not None and found.claims == report.claims
    services.oracle.fails = True
    other = (case[0].model_copy(update={"answer_id": "a-2", "answer": "The cover was painted twice [1]."}), case[1])
    asked, failed = await replayed(case, other)
    assert asked is not None and asked.without_verifier is None, "known from before"
    assert failed is not None and failed.without_verifier == "the model oracle raised RuntimeError"


# --- a check -----------------------------------------------------------------------------------


async def checked(
    services: Services, settings: Settings, deadline: float = 20.0, weighing: float = 0.0, **parts: Any
) -> CheckedAnswer:
    """A check, whose weighing takes so many seconds longer."""
    service = CheckService(settings, services.embedding, "1-abc", lambda: NOW, services.verifier)
    weigh = service._judge.weigh
    service._judge.weigh = lambda *given: (time.sleep(weighing), weigh(*given))[1]  # type: ignore[method-assign]
    answer = AnswerToCheck.model_validate(ANSWER | parts)
    try:
        return CheckedAnswer.model_validate_json(await service.check(answer, deadline))
    finally:
        await service.stop()


async def test_a_check_asks_the_verifier_as_well(services: Services, with_verifier: Settings) -> None:
    report = await services.report(with_verifier, ANSWER)
    told = await checked(services, with_verifier)
    assert told.claims == report.claims
    assert (told.without_verifier, told.late, told.degraded) == (False, False, False)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20 seconds the models have 3; the rest is for a machine that does other things."""
    monkeypatch.setattr(service_module, "MODEL_SHARE", 0.15)


@pytest.mark.usefixtures("impatient")
async def test_a_check_does_without_a_verifier_that_is_late(services: Services, with_verifier: Settings) -> None:
    services.oracle.go_on.clear()
    with capture_logs() as logs:
        told = await checked(services, with_verifier)
    assert told.seconds < 20.0
    assert (told.without_verifier, told.late, told.degraded, told.failed) == (True, False, False, [])
    assert {claim.verifier_score for claim in told.claims} == {None}
    assert [line["event"] for line in logs].count("claims_not_verified") == 1


@pytest.mark.usefixtures("impatient")
async def test_a_check_is_not_without_a_verifier_that_it_need_not_ask(
    services: Services, with_verifier: Settings
) -> None:
    told = await checked(services, with_verifier, weighing=3.1, answer="Hello! How may I help you?")
    assert (told.without_verifier, services.oracle.pairs) == (False, [])
    told = await checked(services, with_verifier, weighing=3.1)
    assert (told.without_verifier, services.oracle.pairs) == (True, [])


@pytest.mark.usefixtures("impatient")
async def test_a_verifier_works_for_no_check_that_nobody_waits_for(with_verifier: Settings) -> None:
    services = Services(Oracle(), batch_pairs=1)
    services.oracle.go_on.clear()
    try:
        await checked(services, with_verifier)
        services.oracle.go_on.set()
        await services.verifier.verify([VerifierPair("", "of one who waits")])
        assert len(services.oracle.pairs) == 2, "the one in work, and that of who waits"
    finally:
        await services.stop()


# --- a start -----------------------------------------------------------------------------------


async def test_worker_console_and_replay_open_the_verifier_of_the_settings(
    settings: Settings, addresses: Addresses, topics: None, combination: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "TransformerVerifier", lambda name, threads: Oracle())
    monkeypatch.setattr(opening, "open_backend", lambda settings: Texts())
    settings.grounding = GroundingThresholds(verifier="org/oracle", verifier_combination=combination)
    worker = Worker(settings, addresses, ["grounding"])
    try:
        await worker.start()
        assert worker.verifier is not None
        pair = VerifierPair("", "a claim")
        assert set(await worker.verifier.verify([pair])) == {pair}
    finally:
        await worker.stop()
    async with opened_resources(settings, addresses) as resources:
        told = await resources.check.check(AnswerToCheck.model_validate(ANSWER), 20.0)
        assert {claim.verifier_score is None for claim in CheckedAnswer.model_validate_json(told).claims} == {False}
    listeners = Listeners(lambda stage: None, lambda done, total: None, lambda lag: None)
    async with open_replay(settings, addresses, ReplayOptions(run="v"), listeners) as replay:
        assert isinstance(replay, Replay)
        assert replay._verifier is not None


async def test_a_worker_does_not_start_with_a_verifier_that_is_not_there(
    settings: Settings, addresses: Addresses, topics: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "open_backend", lambda settings: Texts())
    settings.grounding = GroundingThresholds(verifier="nowhere.onnx")
    worker = Worker(settings, addresses, ["grounding"])
    try:
        with pytest.raises(VerifierUnusable, match=r"nowhere\.onnx, and there is no such file; or set it to none"):
            await worker.start()
    finally:
        await worker.stop()


# --- the version -------------------------------------------------------------------------------


def test_a_verifier_its_weights_and_its_combination_are_parts_of_the_version(
    with_verifier: Settings, combination: Path, tmp_path: Path
) -> None:
    plain = Settings(_env_file=None)
    named = {"verifier", "verifier.rules", "verifier.combination"}
    libraries = {"library.onnx", "library.onnxruntime", "library.tokenizers"}
    assert set(differences(version_parts(plain), version_parts(with_verifier))) == named | libraries
    assert not any("verifier" in name for name in version_parts(plain))
    assert pipeline_version(plain) != pipeline_version(with_verifier)
    before = version_parts(with_verifier)
    combination.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    assert set(differences(before, version_parts(with_verifier))) == {"verifier.combination"}
    files = [tmp_path / name for name in ("one.onnx", "other.onnx")]
    for number, path in enumerate(files):
        path.write_bytes(b"weights %d" % number)
    one, other = (
        version_parts(Settings(_env_file=None, grounding={"verifier": str(path)}))["verifier"].rpartition("@")[2]
        for path in files
    )
    assert one != other
    elsewhere = tmp_path / "elsewhere" / "one.onnx"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(files[0].read_bytes())
    places = [Settings(_env_file=None, grounding={"verifier": str(path)}) for path in (files[0], elsewhere)]
    here, there = (version_parts(each)["verifier"] for each in places)
    assert here == there == f"one.onnx@{one}", "the same file is the same version wherever it lies"


def test_a_verifier_without_a_combination_is_no_judge() -> None:
    with pytest.raises(VerifierUnusable, match=r"grounding\.verifier_combination"):
        grounding_judge(Settings(_env_file=None, grounding={"verifier": "org/oracle"}))
