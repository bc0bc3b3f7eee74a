"""Final states on disk and the topic they are read from: restarts, other topics, damage, periods."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.identifiers import record_key
from schemas.release import ReleasedAnswer
from schemas.topics import ANSWERS_RELEASED
from tests.harness.deployment import Deployment
from tests.harness.partitions import add_partitions
from workers.delivery.followers.final_state_file import PIPELINE
from workers.delivery.followers.released_answers import FOLDER, ReleasedAnswers
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.errors import StoreUnavailable
from workers.settings.addresses import Addresses

NOW = datetime.now(UTC)
EVERYWHERE = range(4)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    deployment = await made(addresses, tmp_path)
    yield deployment
    await deployment.delete_topics()


async def made(addresses: Addresses, directory: Path) -> Deployment:
    deployment = Deployment(addresses, directory)
    async with TopicAdministration(deployment.settings, addresses.kafka) as administration:
        await administration.create()
    return deployment


@asynccontextmanager
async def reading(deployment: Deployment) -> AsyncIterator[ReleasedAnswers]:
    released = ReleasedAnswers(deployment.settings, deployment.addresses.kafka)
    await released.start()
    try:
        await released.refresh(EVERYWHERE, NOW)
        yield released
    finally:
        await released.stop()


async def release(deployment: Deployment, numbers: Sequence[int]) -> None:
    events = [
        ReleasedAnswer(
            release_id="r", answer_id=f"a-{number}", tenant="acme", state="released", final=True, revision=4,
            content="text", pipeline_version="v", released_at=NOW,
        )
        for number in numbers
    ]  # fmt: skip
    pairs = [(record_key("acme", event.answer_id).encode(), event.to_bytes()) for event in events]
    await deployment.send(pairs, ANSWERS_RELEASED)


def known(released: ReleasedAnswers, numbers: Sequence[int]) -> list[int]:
    return [number for number in numbers if released.standing("acme", f"a-{number}") == PIPELINE]


def files(deployment: Deployment) -> list[Path]:
    return sorted((deployment.settings.state_dir / FOLDER).glob("*.sqlite"))


async def test_a_worker_that_starts_again_reads_only_what_is_new(deployment: Deployment) -> None:
    await release(deployment, range(400))
    async with reading(deployment) as first:
        assert first.records_read == 400
        assert known(first, range(500)) == list(range(400))
    await release(deployment, range(400, 407))
    async with reading(deployment) as second:
        assert second.records_read == 7
        assert known(second, range(500)) == list(range(407))
        # As a process that is killed: what it had read is in the file before it stops.
        async with reading(deployment) as third:
            assert third.records_read == 0
            assert known(third, range(500)) == list(range(407))


async def test_an_older_file_is_brought_up_to_date_and_one_of_another_topic_is_not_believed(
    deployment: Deployment, addresses: Addresses, tmp_path: Path
) -> None:
    await release(deployment, range(200))
    async with reading(deployment):
        pass
    older = {path: path.read_bytes() for path in files(deployment)}
    await release(deployment, range(200, 260))
    async with reading(deployment):
        pass
    for path, content in older.items():
        path.write_bytes(content)
    async with reading(deployment) as released:
        assert released.records_read == 60
        assert known(released, range(300)) == list(range(260))
    # A topic that was deleted and created again: the same name, other records, some partitions longer than the file.
    other = await made(addresses, tmp_path / "other")
    await release(other, range(1_000, 1_400))
    prefixes = deployment.settings.kafka.topic_prefix, other.settings.kafka.topic_prefix
    for path in files(deployment):
        place = other.settings.state_dir / FOLDER / path.name.replace(*prefixes)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.rename(place)
    async with reading(other) as released:
        assert released.records_read == 400
        assert known(released, [*range(260), *range(1_000, 1_400)]) == list(range(1_000, 1_400))


async def test_a_file_that_is_damaged_while_it_is_used_is_read_again_and_never_taken_for_empty(
    deployment: Deployment,
) -> None:
    await release(deployment, range(1_200))
    async with reading(deployment):
        pass
    for path in files(deployment):
        content = bytearray(path.read_bytes())
        content[4096 * 6 :] = b"\xff" * (len(content) - 4096 * 6)
        path.write_bytes(bytes(content))
    released = ReleasedAnswers(deployment.settings, deployment.addresses.kafka)
    await released.start()
    found: list[int] = []
    refused = 0
    try:
        while len(found) < 1_200:
            assert refused <= 2 * len(EVERYWHERE), "each file is damaged once"
            try:
                await released.refresh(EVERYWHERE, NOW)
                # An answer whose state is not known raises; it never counts as one without a state.
                found = known(released, range(1_200))
                assert found == list(range(1_200))
            except StoreUnavailable:
                refused += 1
        assert refused
        assert released.records_read == 1_200
    finally:
        await released.stop()


async def test_states_of_records_older_than_the_period_are_removed(deployment: Deployment) -> None:
    await release(deployment, range(100))
    async with reading(deployment) as released:
        later = NOW + timedelta(days=deployment.settings.review.finality_days + 2)
        await released.refresh(EVERYWHERE, later)
        assert known(released, range(100)) == []


async def test_no_state_is_told_of_a_partition_that_was_not_read(deployment: Deployment) -> None:
    released = ReleasedAnswers(deployment.settings, deployment.addresses.kafka)
    await released.start()
    try:
        with pytest.raises(StoreUnavailable, match="not read yet"):
            released.standing("acme", "a-1")
    finally:
        await released.stop()


async def test_added_partitions_are_counted_when_a_record_comes_from_one(
    kafka_addresses: Addresses, tmp_path: Path
) -> None:
    """Otherwise each decision on an answer of a new partition would be sent back to where it came from, for ever."""
    deployment = await made(kafka_addresses, tmp_path)
    async with reading(deployment) as released:
        before = {f"a-{number}": released.partition_of(f"a-{number}") for number in range(100)}
        await add_partitions(deployment.settings, kafka_addresses, ANSWERS_RELEASED, 8)
        await released.refresh([7], NOW)
        after = {answer_id: released.partition_of(answer_id) for answer_id in before}
        assert set(after.values()) == set(range(8))
        assert all(released.moved_to(answer_id, partition) is None for answer_id, partition in after.items())
        moved = [answer_id for answer_id in before if before[answer_id] != after[answer_id]]
        assert moved != []
        assert all(released.moved_to(answer_id, before[answer_id]) == after[answer_id] for answer_id in moved)


async def test_a_doubted_number_of_partitions_is_asked_for_again(kafka_addresses: Addresses, tmp_path: Path) -> None:
    """From 4 to 6 partitions, an answer can move between two partitions that were there before."""
    deployment = await made(kafka_addresses, tmp_path)
    async with reading(deployment) as released:
        await add_partitions(deployment.settings, kafka_addresses, ANSWERS_RELEASED, 6)
        seen = released.partition_of("a-1")
        assert released.moved_to("a-1", (seen + 1) % 4) == seen
        await released.refresh([seen], NOW)
        assert {released.partition_of(f"a-{number}") for number in range(100)} == set(range(6))
