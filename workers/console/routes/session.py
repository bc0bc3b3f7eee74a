"""Logging in and out."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field, SecretStr

from workers.console.principal import Principal
from workers.console.problems import documented
from workers.console.requests import StrictRoute
from workers.console.scopes import Scope
from workers.console.security import Bearer, Cookie, guard_of
from workers.console.sessions import COOKIE

router = APIRouter(prefix="/api/session", tags=["session"], route_class=StrictRoute)


class LogIn(BaseModel):
    """What a person logs in with."""

    token: Annotated[SecretStr, Field(min_length=1, max_length=1_000)]


class WhoAmI(BaseModel):
    """Who asks, and what they may."""

    name: str
    scopes: list[Scope]
    tenants: list[str] = Field(description="Whose data; empty for all.")
    csrf: str = Field(description="To be sent as X-CSRF-Token with the session; empty for programs.")

    @classmethod
    def of(cls, principal: Principal) -> "WhoAmI":
        """What a principal is told of itself."""
        return cls(
            name=principal.name,
            scopes=sorted(principal.scopes),
            tenants=sorted(principal.tenants),
            csrf=principal.csrf,
        )


async def anyone_known(request: Request, bearer: Bearer, cookie: Cookie) -> Principal:
    """Who asks, whatever they may."""
    return await guard_of(request).principal(request, bearer.credentials if bearer else None, cookie)


@router.post("", responses=documented(401, 403, 413, 422, 429))
async def log_in(body: LogIn, request: Request, response: Response) -> WhoAmI:
    """Begin a session: sets the cookie."""
    return WhoAmI.of(await guard_of(request).log_in(request, body.token.get_secret_value(), response))


@router.get("", responses=documented(401, 429))
async def who_am_i(principal: Annotated[Principal, Depends(anyone_known)]) -> WhoAmI:
    """Say who asks."""
    return WhoAmI.of(principal)


@router.delete("", status_code=204, responses=documented(401, 403, 429), dependencies=[Depends(anyone_known)])
async def log_out(response: Response) -> None:
    """End the session: removes the cookie."""
    response.delete_cookie(COOKIE, path="/")
