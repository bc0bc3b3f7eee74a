"""Evaluators of other distributions: what they do wrong stays their own, wherever answers are evaluated."""

import asyncio
import threading
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AsyncExitStack, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sentencex

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluationFindings, EvaluationReport
from tests.harness.paths import ROOT
from workers.agents import evaluation as agent_module
from workers.check.check_service import CheckService
from workers.delivery.records import Record, WorkItem
from workers.errors import JudgementError
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.inference.embedding import EmbeddingService
from workers.pipeline.builtin_evaluators import BUILTIN
from workers.pipeline.evaluator import EvaluationContext, InvalidFindings, Needs, answer_evaluator
from workers.pipeline.isolation import MAX_ABANDONED, MAX_RUNNING, IsolatedThreads, PluginSuspended, PluginTimeout
from workers.pipeline.local_pipeline import LocalPipeline
from workers.pipeline.pipeline import EvaluationPipeline
from workers.pipeline.reports import Origin, build_enriched_answer, make_report
from workers.pipeline.versions import pipeline_version, version_parts
from workers.process import plugins
from workers.process.plugins import EVALUATORS, Plugin, PluginError, find_plugins
from workers.settings import InferenceSettings, Settings

NOW = datetime(2026, 11, 2, tzinfo=UTC)
ANSWER = GeneratedAnswer.model_validate(
    {
        "answer_id": "a-1",
        "query": "How fast does the rotor turn?",
        "answer": "The rotor turns at 47 rpm [1].",
        "contexts": [{"chunk_id": "c-1", "content": "The rotor turns at 47 rpm. The cover is painted green."}],
        "completed_at": NOW.isoformat(),
    }
)
RECORD = Record("answers.generated", 0, 0, b"a-1", ANSWER.to_bytes())
RELEASED = threading.Event()


class Length(EvaluationFindings):
    """Length of an answer, characters."""


def measured(answer: GeneratedAnswer, context: EvaluationContext) -> Length:
    return Length(score=len(answer.answer) / 1_000, details={"vectors": len(context.vectors)})


def raising(answer: GeneratedAnswer, context: EvaluationContext) -> Length:
    raise RuntimeError("secret of the answer")


def hanging(answer: GeneratedAnswer, context: EvaluationContext) -> Length:
    RELEASED.wait(30)
    return Length()


def not_a_number(answer: GeneratedAnswer, context: EvaluationContext) -> Length:
    return Length.model_construct(status="ok", score=float("nan"))


def above_one(answer: GeneratedAnswer, context: EvaluationContext) -> Length:
    return Length(score=1.5)


def other_type(answer: GeneratedAnswer, context: EvaluationContext) -> Any:
    return {"score": 0.5}


def leaving(answer: GeneratedAnswer, context: EvaluationContext) -> Length:
    raise SystemExit(3)


def panicking(answer: GeneratedAnswer, context: EvaluationContext) -> Length:
    sentencex.get_sentence_boundaries("en", "The secret A\u00a0. Take it daily.")
    raise AssertionError("the library no longer panics here; find another panic")


def changing(answer: GeneratedAnswer, context: EvaluationContext) -> Length:
    answer.answer = answer.contexts[0].content = "changed"
    return Length(score=0.5)


FUNCTIONS = {
    each.__name__.replace("_", "-"): each
    for each in (measured, raising, hanging, not_a_number, above_one, other_type, leaving, panicking, changing)
}
EVALUATOR_OBJECTS = {name: answer_evaluator(name, Length, function) for name, function in FUNCTIONS.items()}
EVALUATOR_OBJECTS["measured"] = answer_evaluator(
    "measured", Length, measured, needs=Needs(vectors=True), texts=lambda answer: [answer.answer]
)
globals().update({f"OBJECT_{name.replace('-', '_')}": each for name, each in EVALUATOR_OBJECTS.items()})
POINTS = [EntryPoint(name, f"{__name__}:OBJECT_{name.replace('-', '_')}", EVALUATORS) for name in EVALUATOR_OBJECTS]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    points = list(POINTS)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [each for each in points if each.group == group])
    monkeypatch.setitem(__import__("sys").modules, __name__, SimpleNamespace(**globals()))
    RELEASED.clear()
    yield points
    RELEASED.set()


class Texts:
    name, dimensions = "model-under-test", 64

    def encode(self, texts: Sequence[str]) -> Any:
        rows = np.stack([np.random.default_rng(sum(map(ord, text))).standard_normal(64) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def settings(*enabled: str, seconds: float = 0.2) -> Settings:
    return Settings(_env_file=None, evaluators={"enabled": enabled, "timeout_seconds": seconds})


async def in_agent(with_plugin: Settings) -> EvaluationReport:
    embedding = EmbeddingService(Texts(), InferenceSettings())
    embedding.start()
    services = SimpleNamespace(embedder=lambda: nullcontext(embedding), verifier=nullcontext, memory=nullcontext)
    context: Any = SimpleNamespace(
        settings=with_plugin, pipeline_version="1", now=lambda: NOW, services=services, steps_pool=ThreadPoolExecutor(1)
    )
    try:
        (agent,) = agent_module.plugin_agents(with_plugin)
        handle = await agent.open(context, AsyncExitStack())
        ((output,),) = await handle([WorkItem(RECORD)])  # type: ignore[misc]
        assert output.topic.name == "answers.evaluations" and output.partition == 0
        return EvaluationReport.from_bytes(output.value)
    finally:
        await embedding.stop()


async def finished(with_plugins: Settings, monkeypatch: pytest.MonkeyPatch, where: str) -> dict[str, Any]:
    """All reports on the answer by evaluator, without their times, as one caller of the pipeline makes them."""
    kept: list[Any] = []
    original = EvaluationPipeline.finish

    def noted(self: EvaluationPipeline, case: Any, origin: Origin) -> Any:
        result = original(self, case, replace(origin, pipeline_version="1", judged_at=NOW))
        kept.extend(report for report, _ in result.reports)
        return result

    monkeypatch.setattr(EvaluationPipeline, "finish", noted)
    if where == "files":
        LocalPipeline(with_plugins, Texts()).evaluate(ANSWER)
    else:
        embedding = EmbeddingService(Texts(), InferenceSettings())
        embedding.start()
        try:
            await (checked if where == "check" else replayed)(with_plugins, embedding)
        finally:
            await embedding.stop()
    return {report.agent: report.model_dump(exclude={"duration_seconds", "judgement_id", "run"}) for report in kept}


async def checked(with_plugins: Settings, embedding: EmbeddingService) -> None:
    service = CheckService(with_plugins, embedding, "1", lambda: NOW)
    try:
        await service.check(ANSWER, 20.0)
    finally:
        await service.stop()


async def replayed(with_plugins: Settings, embedding: EmbeddingService) -> None:
    from collections import Counter

    from workers.replay.replay_options import ReplayOptions
    from workers.replay.replay_run import Replay, _Part
    from workers.stores.queries.runs.replay_records import StoredReplay

    nothing: Any = None
    stored: Any = SimpleNamespace(of=lambda answer_id: None)
    selection: Any = SimpleNamespace(unerased=lambda _tenant, earlier: earlier)
    replay = Replay(
        with_plugins, ReplayOptions(run="v"), source=nothing, selection=selection, stored=stored,
        embedding=embedding, verifier=None, outputs=nothing, store=nothing,
        row=StoredReplay("v", "1", "{}", "running", NOW, NOW), erasures=nothing, throttle=nothing, progress=nothing,
    )  # fmt: skip
    await replay._work(_Part(0, 1, [(ANSWER, RECORD)], Counter()))


REASONS = {
    "raising": "RuntimeError in the rules of raising",
    "hanging": "did not return within 0.2 s",
    "not-a-number": "score: Input should be",
    "above-one": "score: Input should be less than or equal to 1",
    "other-type": "returned dict instead of Length",
    "leaving": "RuntimeError in the rules of leaving",
    "panicking": "LibraryPanicked in the rules of panicking",
}


@pytest.mark.parametrize("name", REASONS)
async def test_what_a_plugin_does_wrong_is_a_failed_report_in_its_agent(name: str) -> None:
    report = await in_agent(settings(name))
    assert (report.agent, report.status, report.score) == (name, "failed", None)
    assert REASONS[name] in (report.reason or "")
    assert "secret" not in (report.reason or "")


@pytest.mark.parametrize("text", ["plugin \ud800", "\udfff", np.str_("\ud8ff"), b"bytes", None, 7], ids=repr)
@pytest.mark.parametrize("part", ["text", "evidence", "claim"])
def test_a_text_that_no_model_can_read_fails_before_the_model(text: Any, part: str) -> None:
    pairs: Any = lambda _: [VerifierPair(**{"evidence": "e", "claim": "c", part: text})]  # noqa: E731
    one = {"texts": lambda _: [text]} if part == "text" else {"pairs": pairs}
    needs = Needs(vectors=part == "text", verifier=part != "text")
    evaluation = answer_evaluator("x", Length, measured, needs=needs, **one).begin(ANSWER, [])  # type: ignore[arg-type]
    evaluation.prepare()
    evaluation.score_with_rules({})
    assert isinstance(evaluation.failure, InvalidFindings)
    assert not evaluation.texts and not evaluation.pairs


@pytest.mark.parametrize("pair", [("evidence", "claim"), None, "pair", {"evidence": "e", "claim": "c"}], ids=repr)
def test_a_pair_of_another_type_fails_before_the_verifier(pair: Any) -> None:
    needs = Needs(verifier=True)
    evaluation = answer_evaluator("x", Length, measured, needs=needs, pairs=lambda _: [pair]).begin(ANSWER, [])
    evaluation.prepare()
    evaluation.score_with_rules({})
    assert isinstance(evaluation.failure, InvalidFindings) and "instead of VerifierPair" in str(evaluation.failure)


def nested(levels: int) -> Any:
    value: Any = "deep"
    for _ in range(levels):
        value = [value]
    return value


def made(details: Any, **fields: Any) -> tuple[EvaluationReport, bytes]:
    """The report of a plug-in that finds these details."""
    evaluation = answer_evaluator("x", Length, lambda *_: Length(score=0.5, details=details, **fields)).begin(
        ANSWER, []
    )
    evaluation.prepare()
    evaluation.evaluate({}, {})
    origin = Origin(settings("x"), "v", NOW)
    report, value = make_report(evaluation, ANSWER, RECORD, origin)
    assert isinstance(report, EvaluationReport)
    return report, value


@pytest.mark.parametrize(
    "details",
    [
        {"text": "half \ud800"}, {"deep": [{"in": "\udfff"}]}, {"deep": {"half \ud800": 1}},
        {"deep": nested(250)}, {"deep": nested(195)}, {"deep": {"in": nested(300)}}, {"long": 10**5_000}, {"long": [-(10**5_000)]},
    ],
    ids=lambda details: f"{details!r:.20}" if "long" not in details else "long",
)  # fmt: skip
def test_findings_that_nobody_could_read_give_a_failed_report_with_its_reason(details: Any) -> None:
    report, value = made(details)
    assert report.status == "failed" and report.details == {} and "of x" in (report.reason or "")
    assert EvaluationReport.from_bytes(value) == report


@pytest.mark.parametrize(
    "details", [{"deep": nested(150)}, {"long": [10**400, 2**64]}, {"text": "\U0001f600"}], ids=["deep", "long", "text"]
)
def test_findings_that_a_report_can_hold_are_read_in_the_enriched_answer(details: Any) -> None:
    report, value = made(details)
    assert report.status == "ok" and EvaluationReport.from_bytes(value).details == details
    origin = Origin(settings("x"), "v", NOW)
    _, enriched = build_enriched_answer(ANSWER, {"x": report}, RECORD, origin)
    assert EnrichedAnswer.from_bytes(enriched).evaluations["x"].details == details


class Unspeakable(JudgementError):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class NoText(JudgementError):
    def __str__(self) -> str:
        return 7  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (JudgementError("x" * 3_000), "x" * 2_000),
        (JudgementError("half \ud800 a pair"), "half \\ud800 a pair"),
        (JudgementError("\udfff" * 2_000), ("\\udfff" * 2_000)[:2_000]),
        (RuntimeError("\ud800"), "RuntimeError in the rules of x; the log has the traceback"),
        (type("Long" * 1_000, (Exception,), {})(), "Long" * 500),
        (Unspeakable(), "Unspeakable in the rules of x; the log has the traceback"),
        (NoText(), "NoText in the rules of x; the log has the traceback"),
    ],
    ids=["long", "half a pair", "long once written", "unexpected", "long name", "no text", "not a text"],
)
def test_any_error_of_a_plugin_is_a_failed_report_with_a_reason(error: Exception, reason: str) -> None:
    def refuse(answer: GeneratedAnswer, context: EvaluationContext) -> Length:
        raise error

    evaluation = answer_evaluator("x", Length, refuse).begin(ANSWER, [])
    evaluation.prepare()
    evaluation.evaluate({}, {})
    report, value = make_report(evaluation, ANSWER, RECORD, Origin(settings(), "1", NOW))
    assert (report.status, report.reason) == ("failed", reason)
    assert EvaluationReport.from_bytes(value).reason == reason


async def test_a_plugin_that_works_reports_its_score_in_its_agent() -> None:
    report = await in_agent(settings("measured"))
    assert (report.status, report.score, report.details) == ("ok", 0.03, {"vectors": 1})


@pytest.mark.parametrize("where", ["check", "replay", "files"])
async def test_plugins_harm_no_other_evaluator(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    alone = await finished(settings(), monkeypatch, where)
    beside = await finished(settings(*EVALUATOR_OBJECTS), monkeypatch, where)
    assert set(beside) == {*BUILTIN, *EVALUATOR_OBJECTS}
    assert {name: beside[name] for name in BUILTIN} == alone
    for name, reason in REASONS.items():
        assert beside[name]["status"] == "failed" and reason in beside[name]["reason"]
    assert (beside["measured"]["score"], beside["measured"]["details"]) == (0.03, {"vectors": 1})


async def test_check_replay_and_files_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [await finished(settings("measured"), monkeypatch, where) for where in ("check", "replay", "files")]
    assert found[0] == found[1] == found[2]
    report = await in_agent(settings("measured"))
    exclude = {"duration_seconds", "judgement_id", "run"}
    assert report.model_dump(exclude=exclude) == found[0]["measured"]


async def test_a_plugin_whose_calls_hang_gets_no_more_threads_until_they_return() -> None:
    threads = IsolatedThreads("x", 0.02)
    for _ in range(MAX_ABANDONED):
        with pytest.raises(PluginTimeout):
            await threads.run(lambda: RELEASED.wait(30))
    before = threading.active_count()
    with pytest.raises(PluginSuspended):
        await threads.run(lambda: RELEASED.wait(30))
    assert (threads.abandoned, threading.active_count()) == (MAX_ABANDONED, before)
    RELEASED.set()
    while threads.abandoned:
        await asyncio.sleep(0.01)
    assert await threads.run(lambda: 1) == 1


@pytest.mark.parametrize(
    "error",
    [
        StopIteration("x"),
        type("Mine", (StopIteration,), {})(),
        CancelledError(),
        asyncio.CancelledError(),
        GeneratorExit(),
    ],
    ids=repr,
)
async def test_an_exception_that_no_future_can_hold_ends_the_call_at_once(error: BaseException) -> None:
    threads = IsolatedThreads("x", 30.0)

    def call() -> None:
        raise error

    with pytest.raises(RuntimeError, match=f"{type(error).__name__} raised by the plug-in x"):
        await asyncio.wait_for(threads.run(call), 10)
    assert await threads.run(lambda: 1) == 1


async def test_calls_that_begin_after_the_time_of_their_caller_leave_no_thread_behind() -> None:
    threads, called = IsolatedThreads("x", 30.0), []
    past = asyncio.get_running_loop().time() - 1
    results = await asyncio.gather(
        *(threads.run(lambda: called.append(1), past) for _ in range(3 * MAX_ABANDONED)), return_exceptions=True
    )
    assert {type(each) for each in results} == {PluginTimeout}
    assert "was not called" in str(results[0])
    assert (threads.abandoned, called) == (0, [])
    assert await threads.run(lambda: 1) == 1, "a healthy plug-in is not suspended"


async def test_calls_that_their_callers_leave_early_do_not_count_as_hanging() -> None:
    threads, loop = IsolatedThreads("x", 30.0), asyncio.get_running_loop()
    results: list[Any] = []
    for _ in range(2 * MAX_ABANDONED):
        results += await asyncio.gather(
            threads.run(lambda: RELEASED.wait(30), loop.time() + 0.02), return_exceptions=True
        )
    assert {type(each) for each in results} == {PluginTimeout}
    assert threads.abandoned == 0
    assert "restart" not in str(results[-1]) and "was not called" in str(results[-1]), "only two run at once"
    assert sum(thread.name == "plugin-x" for thread in threading.enumerate()) == MAX_RUNNING
    RELEASED.set()
    assert await threads.run(lambda: 1) == 1, "a healthy plug-in is not suspended"


async def test_a_call_whose_caller_is_cancelled_does_not_count_as_hanging_before_its_time() -> None:
    threads = IsolatedThreads("x", 30.0)
    left = asyncio.create_task(threads.run(lambda: RELEASED.wait(30)))
    while not any(thread.name == "plugin-x" for thread in threading.enumerate()):
        await asyncio.sleep(0)
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)
    assert threads.abandoned == 0


async def test_calls_that_were_left_early_count_as_hanging_once_their_own_time_is_over() -> None:
    threads, loop = IsolatedThreads("x", 0.1), asyncio.get_running_loop()
    for before in range(MAX_ABANDONED):
        with pytest.raises(PluginTimeout):
            await threads.run(lambda: RELEASED.wait(30), loop.time() + 0.05)
        while threads.abandoned == before:
            await asyncio.sleep(0.01)
    with pytest.raises(PluginSuspended, match="restart"):
        await threads.run(lambda: 1)


@pytest.mark.parametrize("waiting", [1, 2 * MAX_RUNNING])
async def test_a_caller_waits_for_a_place_no_longer_than_its_own_time(waiting: int) -> None:
    threads, loop = IsolatedThreads("x", 30.0), asyncio.get_running_loop()
    running = [asyncio.create_task(threads.run(lambda: RELEASED.wait(30))) for _ in range(MAX_RUNNING)]
    called: list[int] = []
    async with asyncio.timeout(10):
        results = await asyncio.gather(
            *(threads.run(lambda: called.append(1), loop.time() + 0.05) for _ in range(waiting)),
            return_exceptions=True,
        )
    assert {type(each) for each in results} == {PluginTimeout} and not called
    without_limit = asyncio.create_task(threads.run(lambda: 2))
    RELEASED.set()
    assert [await each for each in running] == [True] * MAX_RUNNING
    assert await without_limit == 2


# --- the registry ------------------------------------------------------------------------------


def test_the_project_declares_the_evaluators_that_are_built_in() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"][EVALUATORS] == BUILTIN


def test_an_unknown_plugin_is_told_with_those_that_are_installed() -> None:
    with pytest.raises(PluginError, match=r"'toxicity'.*citations.*raising"):
        version_parts(settings("toxicity"))


def test_two_plugins_of_one_name_are_refused_with_their_distributions(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = [SimpleNamespace(name="tone", value="x:y", dist=SimpleNamespace(name=d, version="1")) for d in "ab"]
    monkeypatch.setattr(plugins, "entry_points", lambda group: twice)
    with pytest.raises(PluginError, match="a 1 and b 1"):
        find_plugins(EVALUATORS, ["tone"], BUILTIN)


def test_a_broken_import_names_the_distribution() -> None:
    with pytest.raises(PluginError, match=r"of tone-plugin 1.0 cannot be imported.*ModuleNotFoundError"):
        Plugin("tone", EVALUATORS, "no_such_module:TONE", "tone-plugin", "1.0").load(object)


def test_only_an_enabled_plugin_changes_the_version(
    installed: list[EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tone_plugin.py").write_text("TONE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    without = pipeline_version(settings())
    installed.append(EntryPoint("tone", "tone_plugin:TONE", EVALUATORS))
    assert pipeline_version(settings()) == without
    parts = version_parts(settings("tone"))
    assert parts["evaluator.tone"].startswith("an unknown distribution@0@")
    assert pipeline_version(settings("tone")) != without
