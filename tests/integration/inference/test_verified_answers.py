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
from tests.unit.evaluation.grounding.test_verified_grounding import SURE
from tests.unit.evaluation.grounding.test_verifier_combination import DOCUMENT
from workers.agents.evaluation import evaluation_handler
from workers.check import check_service as service_module
from workers.check.check_models import AnswerToCheck, CheckedAnswer
from workers.check.check_service import CheckService
from workers.console.opening import opened_resources
from workers.decision.enrichment import completeness
from workers.delivery.records import Record, WorkItem
from workers.errors import InferenceFailed
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.evaluation.thresholds import GroundingThresholds
from workers.inference import opening
from workers.inference.embedding import EmbeddingService
from workers.inference.verification import VerificationService
from workers.inference.verifying import Verdict, VerifierUnusable, file_version
from workers.observability import metrics
from workers.pipeline.builtin_evaluators import grounding_evaluator
from workers.pipeline.evaluator_registry import open_evaluators
from workers.pipeline.local_pipeline import LocalPipeline
from workers.pipeline.models import ServiceModels
from workers.pipeline.pipeline import EvaluationPipeline
from workers.pipeline.reports import Origin
from workers.pipeline.versions import differences, pipeline_version, version_parts
from workers.replay.replay_opening import Listeners, open_replay
from workers.replay.replay_options import ReplayOptions
from workers.replay.replay_run import Replay, _Part
from workers.runtime.worker import Worker
from workers.settings import InferenceSettings, Settings
from workers.settings.addresses import Addresses
from workers.stores.queries.runs.replay_records import StoredReplay

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
        assert self.go_on.wait(60)
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
        context: Any = SimpleNamespace(
            settings=settings, pipeline_version="1", now=lambda: NOW, steps_pool=ThreadPoolExecutor(1),
        )  # fmt: skip
        models = ServiceModels(self.embedding, self.verifier if settings.grounding.has_verifier else None)
        handle = evaluation_handler(grounding_evaluator(settings), context, models)
        value = GeneratedAnswer.model_validate(answer).to_bytes()
        ((output,),) = await handle([WorkItem(Record("answers.generated", 0, 0, None, value))])
        return GroundingReport.from_bytes(output.value)


@pytest.fixture
async def models() -> AsyncIterator[Services]:
    made = Services(Oracle())
    yield made
    await made.stop()


def counted(result: str) -> float:
    return float(metrics.VERIFICATIONS.labels(result)._value.get())


# --- in the stream -----------------------------------------------------------------------------


async def test_the_agents_verdicts_are_those_of_the_verifier_where_the_rules_leave_it_open(
    models: Services, with_verifier: Settings
) -> None:
    before = counted("asked")
    report = await models.report(with_verifier, ANSWER)
    assert [claim.verdict for claim in report.claims] == ["supported", "supported"]
    assert [claim.verifier_score for claim in report.claims] == pytest.approx([0.999, 0.999])
    assert report.without_verifier is None
    assert report.versions["verifier"].startswith("org/oracle@")
    combination = with_verifier.grounding.verifier_combination
    assert combination is not None
    assert report.versions["verifier.combination"] == file_version(combination)[:12]
    assert counted("asked") == before + 1
    models.oracle.supported = 0.001
    report = await models.report(with_verifier, ANSWER | {"answer": "Workshop people enjoy sunny holidays abroad [1]."})
    assert [claim.verdict for claim in report.claims] == ["unsupported"]


async def test_an_answer_without_open_claims_asks_nothing(models: Services, with_verifier: Settings) -> None:
    before = counted("not_asked")
    report = await models.report(with_verifier, ANSWER | {"answer": "Hello! How may I help you?"})
    assert report.status == "ok" and models.oracle.pairs == []
    assert counted("not_asked") == before + 1


async def test_a_verifier_that_fails_leaves_the_judgement_to_the_rules_and_it_is_told(
    models: Services, with_verifier: Settings
) -> None:
    rules = await models.report(Settings(_env_file=None), ANSWER)
    assert models.oracle.pairs == [], "without one nothing is asked"
    models.oracle.fails = True
    before = counted("failed")
    with capture_logs() as logs:
        report = await models.report(with_verifier, ANSWER)
    assert counted("failed") == before + 1
    assert (report.status, report.without_verifier) == ("ok", "the model oracle raised RuntimeError")
    assert [line for line in logs if line["event"] == "claim_verification_failed"] == [
        {
            "event": "claim_verification_failed",
            "log_level": "warning",
            "answer_id": "a-1",
            "reason": report.without_verifier,
        }
    ]
    assert report.claims == rules.claims
    assert (report.risk_score, report.hallucination_risk) == (rules.risk_score, rules.hallucination_risk)
    assert rules.without_verifier is None and "verifier" not in rules.versions
    # So that the complete one replaces it, whichever comes last.
    assert completeness([report]) < completeness([rules])


async def test_a_verifier_that_hangs_is_waited_for_no_longer_than_its_deadline(with_verifier: Settings) -> None:
    models = Services(Oracle(), timeout_seconds=0.2)
    models.oracle.go_on.clear()
    try:
        report = await models.report(with_verifier, ANSWER)
        assert "within 0.2 s" in (report.without_verifier or "")
        assert len(report.claims) == 2
    finally:
        await models.stop()


# --- whole answers -----------------------------------------------------------------------------


def local(settings: Settings, oracle: Oracle | None) -> EnrichedAnswer:
    return LocalPipeline(settings, Texts(), oracle).evaluate(GeneratedAnswer.model_validate(ANSWER))


async def test_files_are_judged_as_the_stream_judges(models: Services, with_verifier: Settings) -> None:
    judged = local(with_verifier, Oracle()).grounding
    report = await models.report(with_verifier, ANSWER)
    assert judged is not None
    assert (judged.claims, judged.risk_score) == (report.claims, report.risk_score)


def test_an_answer_that_was_not_scored_with_rules_fails_and_is_not_passed_in_silence(with_verifier: Settings) -> None:
    pipeline = EvaluationPipeline(with_verifier, open_evaluators(with_verifier))
    plain = Settings(_env_file=None)
    assert pipeline.verifies and not EvaluationPipeline(plain, open_evaluators(plain)).verifies
    origin = Origin(with_verifier, "1", NOW)

    def finished(verdicts: Any, *, scored: bool) -> EnrichedAnswer:
        case = pipeline.prepare(GeneratedAnswer.model_validate(ANSWER), Record("file", 0, 0, b"a-1", None))
        vectors = dict(zip(case.texts, Texts().encode(case.texts), strict=True))
        assert not scored or pipeline.score_with_rules(case, vectors)
        pipeline.evaluate(case, vectors, verdicts)
        return pipeline.finish(case, origin).enriched

    assert finished({}, scored=False).failed == ["grounding"]
    enriched = finished(InferenceFailed("it is away"), scored=True)
    assert enriched.failed == [] and enriched.grounding is not None
    assert enriched.grounding.without_verifier == "it is away"
    assert (enriched.degraded, enriched.rank) == (False, 3)


async def test_a_replay_asks_the_verifier_and_does_without_one_that_fails(
    models: Services, with_verifier: Settings
) -> None:
    nothing: Any = None
    stored: Any = SimpleNamespace(of=lambda *identity: None)
    selection: Any = SimpleNamespace(unerased=lambda tenant, earlier: earlier)
    replay = Replay(
        with_verifier, ReplayOptions(run="v"), source=nothing, selection=selection, stored=stored,
        embedding=models.embedding, verifier=models.verifier, outputs=nothing, store=nothing,
        row=StoredReplay("v", "1", "{}", "running", NOW, NOW), erasures=nothing, throttle=nothing, progress=nothing,
    )  # fmt: skip
    case = (GeneratedAnswer.model_validate(ANSWER), Record("answers.generated", 0, 0, b"a-1", None))
    report = await models.report(with_verifier, ANSWER)

    async def replayed(*cases: Any) -> list[GroundingReport | None]:
        done = await replay._work(_Part(0, 1, cases, Counter()))
        return [judged.enriched.grounding for judged in done.judged]

    (found,) = await replayed(case)
    assert found is not None and found.claims == report.claims
    models.oracle.fails = True
    other = (case[0].model_copy(update={"answer_id": "a-2", "answer": "The cover was painted twice [1]."}), case[1])
    asked, failed = await replayed(case, other)
    assert asked is not None and asked.without_verifier is None, "known from before"
    assert failed is not None and failed.without_verifier == "the model oracle raised RuntimeError"


# --- a check -----------------------------------------------------------------------------------


async def checked(
    models: Services, settings: Settings, deadline: float = 20.0, weighing: float = 0.0, **parts: Any
) -> CheckedAnswer:
    """A check, whose weighing takes so many seconds longer."""
    service = CheckService(settings, models.embedding, "1-abc", lambda: NOW, models.verifier)
    score = service._pipeline.score_with_rules
    service._pipeline.score_with_rules = lambda *given: (time.sleep(weighing), score(*given))[1]  # type: ignore[method-assign]
    answer = AnswerToCheck.model_validate(ANSWER | parts)
    try:
        return await service.check(answer, deadline)
    finally:
        await service.stop()


async def test_a_check_asks_the_verifier_as_well(models: Services, with_verifier: Settings) -> None:
    report = await models.report(with_verifier, ANSWER)
    told = await checked(models, with_verifier)
    assert told.claims == report.claims
    assert (told.without_verifier, told.late, told.degraded) == (False, False, False)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20 seconds the models have 3; the rest is for a machine that does other things."""
    monkeypatch.setattr(service_module, "MODEL_SHARE", 0.15)


@pytest.mark.usefixtures("impatient")
async def test_a_check_does_without_a_verifier_that_is_late(models: Services, with_verifier: Settings) -> None:
    models.oracle.go_on.clear()
    with capture_logs() as logs:
        told = await checked(models, with_verifier)
    assert told.seconds < 20.0
    assert (told.without_verifier, told.late, told.degraded, told.failed) == (True, False, False, [])
    assert {claim.verifier_score for claim in told.claims} == {None}
    assert [line["event"] for line in logs].count("claim_verification_failed") == 1


@pytest.mark.usefixtures("impatient")
async def test_a_check_is_not_without_a_verifier_that_it_need_not_ask(
    models: Services, with_verifier: Settings
) -> None:
    told = await checked(models, with_verifier, weighing=3.1, answer="Hello! How may I help you?")
    assert (told.without_verifier, models.oracle.pairs) == (False, [])
    told = await checked(models, with_verifier, weighing=3.1)
    assert (told.without_verifier, models.oracle.pairs) == (True, [])


@pytest.mark.usefixtures("impatient")
async def test_a_verifier_works_for_no_check_that_nobody_waits_for(with_verifier: Settings) -> None:
    models = Services(Oracle(), batch_pairs=1)
    models.oracle.go_on.clear()
    try:
        await checked(models, with_verifier)
        models.oracle.go_on.set()
        await models.verifier.verify([VerifierPair("", "of one who waits")])
        assert len(models.oracle.pairs) == 2, "the one in work, and that of who waits"
    finally:
        await models.stop()


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
        pair = VerifierPair("", "a claim")
        async with worker.services.verifier() as verifier:
            assert verifier is not None
            assert set(await verifier.verify([pair])) == {pair}
    finally:
        await worker.stop()
    async with opened_resources(settings, addresses) as resources:
        told = await resources.check.check(AnswerToCheck.model_validate(ANSWER), 20.0)
        assert {claim.verifier_score is None for claim in told.claims} == {False}
    listeners = Listeners(lambda stage: None, lambda done, total: None, lambda lag: None)
    async with open_replay(settings, addresses, ReplayOptions(run="v"), listeners) as replay:
        assert isinstance(replay, Replay)
        assert replay._models.verifies


async def test_a_worker_does_not_start_with_a_verifier_that_is_not_there(
    settings: Settings, addresses: Addresses, topics: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "open_backend", lambda settings: Texts())
    settings.grounding = GroundingThresholds(verifier="nowhere.onnx")
    worker = Worker(settings, addresses, ["grounding"])
    try:
        with pytest.raises(VerifierUnusable, match=r"nowhere\.onnx, but this file does not exist; set it to none"):
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
        grounding_evaluator(Settings(_env_file=None, grounding={"verifier": "org/oracle"}))
