"""Serve the local ClickHouse on all addresses, to the user of the published image's variables.

CLICKHOUSE_FURTHER_USERS is a JSON object of passwords by name; these users may do what that user may.
"""

import json
import os
import sys
from pathlib import Path

from aiohttp import web

import workers.local.engine.clickhouse_server as server
from workers.local.engine.clickhouse import NAME

PASSWORDS = Path("/tmp/passwords.json")


@web.middleware
async def any_client(request: web.Request, handler):
    return await handler(request)


def credentials(request: web.Request) -> tuple[str, str]:
    """Return those of the one user that the server knows, where a further user has signed in."""
    user, password = found = of_request(request)
    return (server.USER, os.environ["CLICKHOUSE_PASSWORD"]) if further.get(user) == password else found


of_request = server._credentials
further = json.loads(os.environ.get("CLICKHOUSE_FURTHER_USERS", "{}"))
PASSWORDS.write_text(json.dumps({NAME: os.environ["CLICKHOUSE_PASSWORD"]}))
server.LOOPBACK = "0.0.0.0"
server._own_clients_only = any_client
server._credentials = credentials
server.USER = os.environ["CLICKHOUSE_USER"]
sys.argv = [
    "clickhouse",
    "--path",
    "/var/lib/clickhouse/local",
    "--port",
    os.environ.get("CLICKHOUSE_PORT", "8123"),
    "--passwords",
    str(PASSWORDS),
]
sys.exit(server.main())
