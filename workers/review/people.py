"""Find the people who may review: the access tokens with the scope ``review``."""

from collections.abc import Sequence

from workers.settings import AccessToken
from workers.settings.sections.scopes import Scope

EVERY_TENANT = ""
"""Tenant of a person who may review the requests of all tenants."""


def may_review(tokens: Sequence[AccessToken], name: str, tenant: str) -> bool:
    """Return ``True`` if a person may review the requests of a tenant."""
    return bool({(name, EVERY_TENANT), (name, tenant)} & set(reviewing_people(tokens)))


def reviewing_people(tokens: Sequence[AccessToken]) -> list[tuple[str, str]]:
    """Return the people who may review, each with one of their tenants or with ``EVERY_TENANT``."""
    return [
        (token.name, tenant)
        for token in tokens
        if Scope.REVIEW in token.scopes
        for tenant in sorted(token.tenants) or [EVERY_TENANT]
    ]


def stranger_words(name: str) -> str:
    """Return the refusal of a person who may not review the requests of a tenant."""
    return f"{name} may not review the requests of this tenant; choose another person"
