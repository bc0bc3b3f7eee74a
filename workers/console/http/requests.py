"""Read JSON bodies with orjson, which refuses text that stores cannot hold, such as lone surrogates."""

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json


class StrictRequest(Request):
    """A request that reads its JSON body with orjson."""

    async def json(self) -> Any:
        """Return the parsed body.

        Raises:
            json.JSONDecodeError: the body is not valid JSON, or is nested too deeply.
        """
        body = await self.body()
        content = orjson.loads(body)
        try:
            from_json(body)  # reads as many levels as a worker does: deeper content could not be written as a record
        except ValueError:
            raise orjson.JSONDecodeError("nested deeper than 200 levels; send flatter JSON", "", 0) from None
        return content


class StrictRoute(APIRoute):
    """A route that passes a ``StrictRequest`` to its handler."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, wrapped to receive a ``StrictRequest``."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return strict
