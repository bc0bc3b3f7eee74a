"""A console on real services, in a thread with a loop of its own, so that browsers and plain clients can wait for it."""

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import httpx

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.review import ReviewRequest
from tests.harness.deployment import session_seconds
from tests.harness.migrated import make_tables, return_tables
from workers.console.app import create_app
from workers.console.http.server import ConsoleServer
from workers.console.opening import opened_resources
from workers.console.resources import ConsoleResources
from workers.decision.decision_basis import basis_of
from workers.decision.release_events import alerts, conversation_turn, review_request
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.inference.backends import SentenceTransformerBackend
from workers.inference.embedding import EmbeddingService
from workers.inference.opening import open_embedding
from workers.pipeline.local_pipeline import LocalPipeline
from workers.process.paths import examples_directory
from workers.runtime.worker import Worker
from workers.services.shared_service import SharedService
from workers.services.shared_services import SharedServices
from workers.settings import AccessToken, ConsoleSettings, KafkaSettings, ReviewSettings, Settings
from workers.settings.addresses import Addresses, apply_local_defaults
from workers.settings.sections.scopes import Scope
from workers.stores.clickhouse.analytics_store import connect
from workers.stores.clickhouse.rows.clickhouse_rows import alert_row, enriched_rows
from workers.stores.clickhouse.rows.review_rows import review_rows

T = TypeVar("T")

EVERYTHING = "token-with-every-scope"
UNDO_SECONDS = 3.0
STORED = 17
"""Examples that are stored, the first ones."""
_NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of the console, which speaks HTTP: to read the authorities would take each client 0.06 s of CPU."""

ONE_TENANT = {
    "acme": "acme", "keys": "keys", "first-racer": "race", "second-racer": "race", "corrector": "correction", "undoer": "undo",
    "waiter": "outage", "patient": "patience", "rival": "patience", "looker": "changes", "voter": "votes",
    "editor": "edits", "drafter": "drafts", "passenger": "passages", "messenger": "messages", "sleeper": "sessions",
    "long-reader": "long-answers", "thumb": "thumbs", "lister": "lists", "colleague": "lists", "bulk": "bulks", "bulk-rival": "bulks",
    "first-unseen": "unseen", "second-unseen": "unseen", "other-unseen": "unseen", "second-pending": "unseen-pending", "other-pending": "unseen-pending", "no-mouse": "no-mouse", "fast-editor": "edits-fast", "magnified": "magnified", "ended": "ended", "counted": "counted", "charted": "charted", "pager": "pages", "inspected": "inspected", "first-of-team": "blind-team", "second-of-team": "blind-team",
    "first-opinion": "opinions", "second-opinion": "opinions", "told": "told", "accepting": "accepted", "priced": "priced", "unpriced": "unpriced",
    "recorder": "record", "onlooker": "displayed", "frozen": "frozen", "editing": "editing", "undoing": "undoing", "interleaved": "interleaved", "agreement": "agreement", "linked": "linked", "sheets": "sheets", "doubts": "doubts",
    "foreseeing": "outcomes", "late-undoer": "late-undo", "empty-approver": "empties", "hinted": "hints", "addressed": "addresses", "thresholds": "minima",
    "escalating": "escalations", "undecided": "undecided", "recounting": "recounts", "double-presser": "pressed-twice", "leaving": "left-page", "voting": "voted", "bulk-undoer": "bulk-undo", "partial-undoer": "partial-undo", "unguided": "unguided", "published": "published", "withdrawing": "withdrawals",
    "estimating": "estimates", "escalator": "passed-on", "next-reviewer": "passed-on", "previewing": "previews", "deadlined": "deadlines", "referring": "references", "mover": "moves", "plain": "plain-words", "unprompted": "unprompted", "keyed": "keyed", "hasty": "hasty", "trial": "trial", "line-ends": "line-ends", "opening": "opened", "finder": "found", "second-finder": "found", "leftover": "left-over", "leftover-rival": "left-over", "looking-back": "looked-back", "referencing": "kept-references", "approver": "approved-doubts", "starter": "started", "counting": "countdowns", "reasoned": "reasoned", "repeated-voter": "repeated-votes",
    "second-thinker": "second-thoughts", "phone-thinker": "phone-thoughts", "key-editor": "key-edits", "timed": "timed", "bulk-doubter": "bulk-doubts", "just-decided": "just-decided", "list-undoer": "list-undo", "zoomed": "zoomed", "head-reader": "heads", "head-counter": "head-counts", "repeater": "same-questions",
    "thumb-measurer": "thumb-sizes", "screen-typist": "screen-keyboard", "word-reader": "word-pieces", "head-of-phone": "phone-heads",
    "ring-seeker": "focus-rings", "double-undoer": "undo-twice", "gap-seeker": "undo-gaps", "filter-typist": "key-filters", "list-walker": "list-focus", "passage-finder": "passages-found",
    "key-undoer": "key-undo", "key-undoer-apart": "key-undo-apart", "question-opener": "long-questions", "cut-reader": "cut-questions", "cut-undoer": "cut-undo", "slow-decider": "slow-lines", "evidence-seeker": "near-evidence", "blank-reader": "blank-answers",
    "lead": "teams", "member": "teams", "seeker": "sought", "sought-ben": "sought", "second-sought": "sought-blind", "key-lister": "key-list", "empty-presser": "pressed-empties",
    "differing-lead": "differing", "other-differing": "differing", "lock-lead": "locked-times", "lock-holder": "locked-times", "assigning-lead": "taken-back", "assignee-one": "taken-back", "assignee-two": "taken-back", "assign-undoer": "list-assigned", "assignee-three": "list-assigned",
    "late-corrector": "published-words", "follower": "list-followed", "unshown-reader": "unshown", "followed": "list-followed", "asking-lead": "asked-twice", "asked-one": "asked-twice", "asked-two": "asked-twice", "asked-three": "asked-twice", "asking-page": "asked-page", "anyone-lead": "asked-anyone", "anyone-one": "asked-anyone", "anyone-two": "asked-anyone", "refused-lead": "asked-refused", "refused-two": "asked-refused", "asking-on-page": "asked-on-page", "asked-on-page": "asked-on-page", "asked-colleague": "asked-page", "many-lead": "asked-many", "many-one": "asked-many", "many-two": "asked-many", "list-lead": "asked-list", "list-one": "asked-list", "list-two": "asked-list", "narrow-lead": "asked-narrow", "narrow-one": "asked-narrow", "differ-lead": "differing-many", "differ-other": "differing-many",
    **{f"typing-{name}": f"typed-{name}" for name in ("reject", "correct", "skip", "escalate", "undo", "back", "vote", "list", "later", "refused", "kept", "keep-editing", "question")}, "late-locker": "late-lock", "leaver": "logged-out", "taken-mine": "taken", "taken-other": "taken", "named-mine": "named-refusals", "named-other": "named-refusals", "own-decider": "own-decided", "doubt-walker": "doubt-walks", "clear-walker": "clear-walks", "escalation-undoer": "escalation-undone", "bare-reader": "bare-claims", "score-reader": "left-out", "same-lister": "same-asked", "head-filterer": "head-filters", "mark-previewer": "marked-previews", "phone-beginner": "phone-begins", "late-skipper": "late-skips", "list-keeper": "list-kept", "totals-lister": "list-totals", "time-keeper": "time-kept", "counts-mine": "counts-followed", "counts-other": "counts-followed", "line-reader": "long-lines", "line-other": "long-lines", "stop-first": "full-stops", "stop-second": "full-stops",
    "back-stepper": "stepped-back", "edit-keeper": "unsent-edits", "comparing": "compared-texts", "second-comparing": "compared-texts", "other-comparing": "compared-others", "claim-reader": "whole-claims", "equal-lister": "equal-questions", "rules-reader": "ruled",
    "message-reader": "messages-beside", "word-seeker": "sought-words", "filter-keeper": "kept-filters", "lock-leaver": "left-locks", "lock-seeker": "left-locks",
}  # fmt: skip
"""Tokens with every scope for one tenant."""


def examples() -> list[GeneratedAnswer]:
    """The first examples."""
    lines = (examples_directory() / "answers.jsonl").read_bytes().splitlines()[:STORED]
    return [GeneratedAnswer.from_bytes(line) for line in lines]


def secret(name: str) -> str:
    """The secret of a token by its name."""
    return f"secret-of-the-token-{name}"


def tokens() -> tuple[AccessToken, ...]:
    """One token for each scope, one with all of them, and those of ``ONE_TENANT``."""
    single = [(scope.value, frozenset({scope}), frozenset[str]()) for scope in Scope]
    every = frozenset(Scope)
    several = [(EVERYTHING, every, frozenset[str]())]
    several += [(name, every, frozenset({tenant})) for name, tenant in ONE_TENANT.items()]
    return tuple(
        AccessToken(name=name, token=secret(name), scopes=scopes, tenants=tenants)
        for name, scopes, tenants in (*single, *several)
    )


async def _lag() -> dict[str, int]:
    return {"grounding": 0}


class ConsoleThread:
    """The console with its resources.

    Args:
        addresses: of real services.
        directory: for state.
        backend: the embedding model.
    """

    def __init__(self, addresses: Addresses, directory: Path, backend: SentenceTransformerBackend) -> None:
        name = f"t{uuid4().hex[:10]}"
        self._addresses = addresses
        self._backend = backend
        self.settings = Settings(
            _env_file=None,
            kafka=KafkaSettings(
                topic_prefix=f"{name}.", group_prefix=name, session_timeout_seconds=session_seconds(addresses)
            ),
            console=ConsoleSettings(tokens=tokens(), requests_per_minute=1_000_000, failures_per_minute=1_000_000),
            # A reviewer who looks at what is overdue must not lose it to the policy meanwhile.
            review=ReviewSettings(undo_seconds=UNDO_SECONDS, second_share=0.0, sweep_seconds=3_600.0),
            state_dir=directory / "state",
        )
        self.settings.clickhouse.database = name
        self.settings.redis.key_prefix = f"{name}:"
        # Tests side by side make each other wait; that is no outage.
        self.settings.redis.timeout_seconds = 10.0
        self.settings = apply_local_defaults(self.settings, addresses)
        self.url = ""
        self.resources: ConsoleResources
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="console-under-test", daemon=True)
        self._stack = AsyncExitStack()
        self._clients: list[httpx.Client] = []
        self._pipeline: LocalPipeline | None = None

    def start(self) -> None:
        """Create topics and tables, open everything, listen.

        The tables are dropped in the end: their views would be refreshed every minute until the end of a run.
        """
        self._thread.start()
        self.call(self._start())

    async def _start(self) -> None:
        async with TopicAdministration(self.settings, self._addresses.kafka) as administration:
            await administration.create()
        client = await connect(self.settings.clickhouse, self._addresses.clickhouse)
        self._stack.push_async_callback(client.close)
        database = self.settings.clickhouse.database
        self._stack.push_async_callback(return_tables, client, database)
        await make_tables(client, database)
        services = SharedServices(self.settings, self._addresses)
        services.embedder = SharedService(self._embedder)
        services.verifier = SharedService(nullcontext)
        opened = opened_resources(self.settings, self._addresses, services, _lag)
        self.resources = await self._stack.enter_async_context(opened)
        self._server = ConsoleServer(create_app(self.resources), self.settings.console)
        self._stack.push_async_callback(self._server.stop)
        self.url = await self._server.start()

    async def is_idle(self) -> bool:
        """Return whether no caller waits for a response: a caller who has hung up waits for none."""
        cycles = [connection.cycle for connection in self._server._server.server_state.connections]  # type: ignore[union-attr]
        return all(cycle is None or cycle.response_complete for cycle in cycles)

    @asynccontextmanager
    async def _embedder(self) -> AsyncIterator[EmbeddingService]:
        service = await open_embedding(self.settings, self._backend)
        try:
            yield service
        finally:
            await service.stop()

    @contextmanager
    def worker(self, agents: Sequence[str]) -> Iterator[None]:
        """Run agents beside the console.

        End them with the module or folder that needs them: other tests replace methods of classes that agents use.
        """

        async def made() -> Worker:
            return Worker(self.settings, self._addresses, agents)

        worker = self.call(made())
        try:
            self.call(worker.start())
            yield
        finally:
            self.call(worker.stop())

    def stop(self) -> None:
        """Close everything."""
        for client in self._clients:
            client.close()
        self.call(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    def call(self, coroutine: Coroutine[Any, Any, T], seconds: float = 300.0) -> T:
        """Run something in the console's loop and wait for it."""
        running: Future[T] = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        return running.result(seconds)

    def client(self, token: str | None = EVERYTHING) -> httpx.Client:
        """A client with a token by its name, or without any."""
        headers = {"Authorization": f"Bearer {secret(token)}"} if token else {}
        client = httpx.Client(base_url=self.url, headers=headers, timeout=60, verify=_NO_AUTHORITIES)
        self._clients.append(client)
        return client

    def judge(self, answer: GeneratedAnswer) -> EnrichedAnswer:
        """Judge an answer as the pipeline does."""
        if self._pipeline is None:
            self._pipeline = LocalPipeline(self.settings, self._backend)
        return self._pipeline.evaluate(answer)

    def store_rows(self, enriched: EnrichedAnswer, **columns: Mapping[str, Any]) -> None:
        """Store an answer's rows with some columns replaced, by table: what no agent would write."""

        async def insert() -> None:
            for row in enriched_rows(enriched):
                await self.resources.analytics.insert(row.table, [row.columns | dict(columns.get(row.table, {}))])

        self.call(insert())

    def store_request(self, request: ReviewRequest) -> None:
        """Store a review request's rows."""

        async def insert() -> None:
            await self.resources.analytics.store(review_rows(request))

        self.call(insert())

    def store(self, answers: Iterable[GeneratedAnswer]) -> list[EnrichedAnswer]:
        """Judge answers and store what the pipeline would store of them."""
        enriched = [self.judge(answer) for answer in answers]
        self.call(self._store(enriched))
        return enriched

    async def _store(self, judged: list[EnrichedAnswer]) -> None:
        resources, settings = self.resources, self.settings
        assert resources.memory is not None
        assert resources.embedding is not None
        rows = []
        for enriched in judged:
            basis = basis_of(enriched, settings.gate, settings.grounding, settings.decision)
            rows += enriched_rows(enriched, basis)
            request = review_request(enriched, enriched.enriched_at, deadline_hours=24)
            rows += review_rows(request) if request else []
            rows += [alert_row(alert, enriched) for alert in alerts(enriched, enriched.enriched_at, settings.grounding)]
        turns = [turn for turn in map(conversation_turn, judged) if turn is not None]
        texts = [f"{turn.query} {turn.response}" for turn in turns]
        vectors = await resources.embedding.embed(texts)
        await resources.memory.remember([(turn, vectors[text]) for turn, text in zip(turns, texts, strict=True)])
        await resources.analytics.store(rows)


@contextmanager
def unhurried_undo(console: ConsoleThread) -> Iterator[None]:
    """Give reviewers an hour to undo what they decide meanwhile, so that no test depends on the speed of its steps."""
    review = console.settings.review
    seconds, review.undo_seconds = review.undo_seconds, 3_600.0
    try:
        yield
    finally:
        review.undo_seconds = seconds


@contextmanager
def clock_at(console: ConsoleThread, now: datetime) -> Iterator[None]:
    """The console's clock at a time; sessions count from it as well."""
    clock, console.resources.now = console.resources.now, lambda: now
    try:
        yield
    finally:
        console.resources.now = clock
