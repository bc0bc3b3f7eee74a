"""Represent the authenticated caller with its scopes and tenants."""

from dataclasses import dataclass
from typing import Literal

from schemas.identifiers import DEFAULT_TENANT
from workers.console.http.problems import Problem
from workers.settings.sections.scopes import Scope


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller of a request.

    Attributes:
        name: name of the access token.
        scopes: granted scopes.
        tenants: tenants whose data the caller may see; empty for all.
        via: kind of credential.
        csrf: CSRF token of the page; empty for programs.
    """

    name: str
    scopes: frozenset[Scope]
    tenants: frozenset[str]
    via: Literal["token", "session"]
    csrf: str = ""

    def tenant(self, wanted: str | None) -> str:
        """Return the tenant of a request.

        Args:
            wanted: requested tenant; by default the only tenant of the token, else ``default``.

        Raises:
            Problem: 403, the token does not include the tenant.
        """
        tenant = wanted or (next(iter(self.tenants)) if len(self.tenants) == 1 else DEFAULT_TENANT)
        self.require_tenant(tenant)
        return tenant

    def require_tenant(self, tenant: str) -> None:
        """Refuse a tenant that the token does not include.

        Raises:
            Problem: 403, the token does not include the tenant.
        """
        if self.tenants and tenant not in self.tenants:
            raise Problem(403, "the access token does not include this tenant; choose one of its tenants")

    def chosen_tenants(self, wanted: str | None) -> list[str]:
        """Return the tenants of a list: the requested one, else all of the token; empty for all tenants.

        Raises:
            Problem: 403, the token does not include the requested tenant.
        """
        if wanted:
            self.require_tenant(wanted)
            return [wanted]
        return sorted(self.tenants)
