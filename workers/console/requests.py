"""Reading bodies: orjson refuses what no store can hold, such as half a surrogate pair."""

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute


class StrictRequest(Request):
    """A request whose JSON is read by orjson."""

    async def json(self) -> Any:
        """The body.

        Raises:
            json.JSONDecodeError: it is no JSON.
        """
        return orjson.loads(await self.body())


class StrictRoute(APIRoute):
    """A route that reads ``StrictRequest``."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return strict
