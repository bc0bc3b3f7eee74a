"""A console and a worker that two tenants share."""

from collections.abc import Iterator

import pytest

from schemas.topics import ANSWERS_RELEASED, MEMORY_TURNS
from tests.harness.console import ConsoleThread
from tests.harness.tenants import AGENTS, BOTH, OURS, THEIRS, TwoTenants, answer, until
from workers.inference.backends import SentenceTransformerBackend
from workers.settings.addresses import Addresses


@pytest.fixture(scope="package")
def two(
    addresses: Addresses, tmp_path_factory: pytest.TempPathFactory, backend: SentenceTransformerBackend
) -> Iterator[TwoTenants]:
    """Both tenants use one identifier, one user and one session; the second one comes later, knowing the first.

    The agents end with this folder: tests after it replace methods of classes that agents use.
    """
    console = ConsoleThread(addresses, tmp_path_factory.mktemp("tenants"), backend)
    console.start()
    try:
        with console.worker(AGENTS):
            two = TwoTenants(console, addresses)
            two.send(answer(OURS))
            until(lambda: two.queue(OURS), "the review of the first tenant")
            two.rate(OURS, 5)
            two.send(answer(THEIRS))
            for tenant in BOTH:
                two.reviews[tenant] = until(lambda tenant=tenant: two.queue(tenant), f"the review of {tenant}")[0]
            two.rate(THEIRS, 1)
            two.decide(THEIRS)
            until(lambda: two.final(THEIRS), "the decision of the second tenant")
            two.released_meanwhile = two.values(ANSWERS_RELEASED, OURS)
            two.decide(OURS)
            for tenant in BOTH:
                until(lambda tenant=tenant: two.final(tenant), f"the decision of {tenant}")
                until(lambda tenant=tenant: two.values(MEMORY_TURNS, tenant), f"the turn of {tenant}")
                until(lambda tenant=tenant: two.remembered(tenant), f"the memory of {tenant}")
                until(lambda tenant=tenant: two.rewarded(tenant), f"the reward of {tenant}")
                until(lambda tenant=tenant: not two.queue(tenant), f"the closed review of {tenant}")
            yield two
    finally:
        console.stop()
