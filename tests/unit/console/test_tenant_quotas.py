"""Each tenant may send as many answers a second as its quota says."""

import pytest

from workers.console.http import tenant_quotas
from workers.console.http.problems import Problem
from workers.console.http.tenant_quotas import TenantQuotas
from workers.observability import metrics
from workers.settings import GatewaySettings


class Site:
    """Quotas with a clock that a test sets."""

    def __init__(self, rate: float = 0.0, **rates: float) -> None:
        self.now = 1_000.0
        settings = GatewaySettings(tenant_answers_per_second=rate, tenants_answers_per_second=rates)
        self.quotas = TenantQuotas(settings, lambda: self.now)

    def wait(self, **answers: int) -> int:
        """Return the seconds of ``Retry-After``; 0 if the request is accepted."""
        try:
            self.quotas.book(answers)
        except Problem as problem:
            assert problem.status_code == 429
            return int((problem.headers or {})["Retry-After"])
        return 0


def test_without_a_quota_everything_is_accepted() -> None:
    site = Site()
    assert {site.wait(a=10**6) for _ in range(100)} == {0}


def test_over_a_long_time_a_tenant_gets_its_rate_and_no_more() -> None:
    site, accepted = Site(rate=5), 0
    for _ in range(1_000):
        site.now += 0.1
        accepted += sum(site.wait(a=1) == 0 for _ in range(10))
    assert accepted == 50 + 500  # the burst at the beginning, and 100 s of the rate


def test_a_refusal_names_the_tenant_and_its_quota() -> None:
    site = Site(rate=2)
    assert site.wait(a=100, b=1) == 0
    with pytest.raises(Problem, match="the tenant a may send 2 answers a second to this console; wait 40 s"):
        site.quotas.book({"a": 1, "b": 1})


def test_a_batch_beyond_the_burst_passes_once_and_is_paid_back() -> None:
    site = Site(rate=1)
    assert site.wait(a=40) == 0
    assert site.wait(a=1) == 30
    site.now += 30
    assert site.wait(a=1) == 1  # nothing is left, and nothing owed
    site.now += 0.5
    assert site.wait(a=1) == 0


def test_a_request_over_one_quota_books_nothing_of_other_tenants() -> None:
    site = Site(rate=1)
    assert site.wait(a=10) == 0
    assert {site.wait(a=1, b=10) for _ in range(5)} == {1}
    assert site.wait(b=10) == 0


def test_a_rate_of_its_own_replaces_the_common_one() -> None:
    site = Site(rate=1, large=100, free=0)
    assert [site.wait(large=1_000), site.wait(large=1), site.wait(free=10**6), site.wait(free=1)] == [0, 1, 0, 0]


def test_only_named_tenants_have_a_label_of_their_own() -> None:
    site = Site(rate=1, named=1)

    def refused(tenant: str) -> float:
        return float(metrics.QUOTA_REFUSED.labels(tenant)._value.get())

    before = {tenant: refused(tenant) for tenant in ("named", "other")}
    for tenant in ("named", "u1", "u2"):
        site.wait(**{tenant: 10})
        site.wait(**{tenant: 7})
    assert refused("named") - before["named"] == 7
    assert refused("other") - before["other"] == 14


def test_tenants_that_are_quiet_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenant_quotas, "MAX_TENANTS", 10)
    site = Site(rate=1)
    for number in range(1_000):
        site.now += 1
        site.wait(**{f"t{number}": 1})
    assert len(site.quotas._accounts) <= 10
