"""Who asks."""

from dataclasses import dataclass
from typing import Literal

from workers.console.problems import Problem
from workers.console.scopes import Scope

DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks.

    Attributes:
        name: of the token.
        scopes: what it may do.
        tenants: whose data; empty for all.
        via: how it was told.
        csrf: token of the page; empty for programs.
    """

    name: str
    scopes: frozenset[Scope]
    tenants: frozenset[str]
    via: Literal["token", "session"]
    csrf: str = ""

    def tenant(self, wanted: str | None) -> str:
        """The tenant that a request is about.

        Args:
            wanted: as asked for; by default the only one of the token, else ``default``.

        Raises:
            Problem: 403, it is not one of the token's.
        """
        tenant = wanted or (next(iter(self.tenants)) if len(self.tenants) == 1 else DEFAULT_TENANT)
        self.require_tenant(tenant)
        return tenant

    def require_tenant(self, tenant: str) -> None:
        """Refuse a tenant that is not one of the token's.

        Raises:
            Problem: 403.
        """
        if self.tenants and tenant not in self.tenants:
            raise Problem(403, "the token is for other tenants; ask for one that it names")

    def chosen_tenants(self, wanted: str | None) -> list[str]:
        """The tenants that a list is about: the wanted one, else all of the token; empty for all there are.

        Raises:
            Problem: 403.
        """
        if wanted:
            self.require_tenant(wanted)
            return [wanted]
        return sorted(self.tenants)
