"""Log in, log out, and describe the caller."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field, SecretStr

from workers.console.http.problems import documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.identity.security import Bearer, Cookie, guard_of
from workers.console.identity.sessions import COOKIE
from workers.console.resources import Shared
from workers.settings.sections.scopes import Scope

router = APIRouter(prefix="/api/session", tags=["session"], route_class=StrictRoute)


class LogIn(BaseModel):
    """The credentials of a log-in."""

    token: Annotated[SecretStr, Field(min_length=1, max_length=1_000)]
    switch: bool = Field(default=True, description="False refuses to replace the session of another token.")


class WhoAmI(BaseModel):
    """The caller with its scopes and tenants."""

    name: str
    scopes: list[Scope]
    tenants: list[str] = Field(description="Tenants whose data is visible; empty for all.")
    csrf: str = Field(description="CSRF token to send as X-CSRF-Token with a session; empty for programs.")

    @classmethod
    def of(cls, principal: Principal) -> "WhoAmI":
        """Describe a principal."""
        return cls(
            name=principal.name,
            scopes=sorted(principal.scopes),
            tenants=sorted(principal.tenants),
            csrf=principal.csrf,
        )


async def anyone_known(request: Request, bearer: Bearer, cookie: Cookie) -> Principal:
    """Return the authenticated caller, with any scopes.

    Raises:
        Problem: 401, unknown caller; 403, the CSRF token is missing; 429, the rate limit is reached.
    """
    return await guard_of(request).principal(request, bearer.credentials if bearer else None, cookie)


@router.post("", responses=documented(401, 403, 409, 413, 422, 429))
async def log_in(body: LogIn, request: Request, response: Response) -> WhoAmI:
    """Start a session and set its cookie."""
    return WhoAmI.of(
        await guard_of(request).log_in(request, body.token.get_secret_value(), response, switch=body.switch)
    )


@router.get("", responses=documented(401, 429))
async def who_am_i(principal: Annotated[Principal, Depends(anyone_known)]) -> WhoAmI:
    """Describe the caller."""
    return WhoAmI.of(principal)


@router.delete("", status_code=204, responses=documented(401, 403, 429), dependencies=[Depends(anyone_known)])
async def log_out(request: Request, response: Response, resources: Shared, cookie: Cookie) -> None:
    """End the session and remove its cookie; copies of the cookie are refused from now on."""
    await guard_of(request).log_out(cookie, resources.now())
    response.delete_cookie(COOKIE, path="/")
