"""Bound the answers a second that each tenant may send to this console."""

import time
from collections.abc import Callable, Mapping

from workers.console.http.problems import too_many
from workers.observability import metrics
from workers.settings import GatewaySettings

BURST_SECONDS = 10.0
"""Seconds of its rate that a tenant may send at once."""

MAX_TENANTS = 10_000
"""Number of tenants above which those that have sent nothing for a while are forgotten."""

UNNAMED = "other"
"""Label in the metric of tenants that the settings do not name, which may be any number."""


class TenantQuotas:
    """Quotas of tenants, each with an account that fills with its rate.

    A request is accepted while the accounts of all its tenants are not empty, whatever its size, and is then booked in
    full: a batch larger than the burst passes, and the next one waits for longer.

    Args:
        settings: the rates.
        clock: seconds that only rise.
    """

    def __init__(self, settings: GatewaySettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = settings.tenant_answers_per_second
        self._rates = settings.tenants_answers_per_second
        self._clock = clock
        self._accounts: dict[str, tuple[float, float]] = {}

    def book(self, answers: Mapping[str, int]) -> None:
        """Book the answers of a request by tenant.

        Raises:
            Problem: 429 with ``Retry-After``, the quota of a tenant is used up; nothing is booked.
        """
        limited = {tenant: count for tenant, count in answers.items() if count and self._rate_of(tenant)}
        waits = {tenant: -self._left(tenant) / self._rate_of(tenant) for tenant in limited}
        if over := [tenant for tenant, wait in waits.items() if wait >= 0]:
            for tenant in over:
                name = tenant if tenant in self._rates else UNNAMED
                metrics.QUOTA_REFUSED.labels(name).inc(answers[tenant])
            slowest = max(over, key=waits.__getitem__)
            quota = f"the tenant {slowest} may send {self._rate_of(slowest):g} answers a second to this console"
            raise too_many(waits[slowest], quota)
        now = self._clock()
        for tenant, count in limited.items():
            self._accounts[tenant] = (self._left(tenant) - count, now)
        if len(self._accounts) > MAX_TENANTS:
            self._accounts = {
                tenant: account
                for tenant, account in self._accounts.items()
                if self._left(tenant) < BURST_SECONDS * self._rate_of(tenant)
            }

    def _rate_of(self, tenant: str) -> float:
        return self._rates.get(tenant, self._rate)

    def _left(self, tenant: str) -> float:
        rate = self._rate_of(tenant)
        left, since = self._accounts.get(tenant, (BURST_SECONDS * rate, 0.0))
        return min(BURST_SECONDS * rate, left + rate * (self._clock() - since))
