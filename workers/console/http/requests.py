"""Read JSON bodies with orjson, which refuses text that stores cannot hold, such as lone surrogates.

Pages have a deadline besides, so that a person does not wait for a frozen store without a message.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json

from workers.console.http.problems import Problem

PAGE_SECONDS = 8.0
"""Longest wait for a page. Pages take milliseconds; a store that takes longer is frozen or overloaded."""


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


class PageRoute(StrictRoute):
    """A route of a page, answered within ``PAGE_SECONDS``."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler with a deadline.

        Raises:
            Problem: 503, a store has not answered in time.
        """
        handle = super().get_route_handler()

        async def in_time(request: Request) -> Response:
            try:
                async with asyncio.timeout(PAGE_SECONDS):
                    return await handle(request)
            except TimeoutError:
                raise Problem(
                    503,
                    f"a store has not answered within {PAGE_SECONDS:g} s; try again, and see whether ClickHouse responds",
                ) from None

        return in_time
