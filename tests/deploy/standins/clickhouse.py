"""Serve the local ClickHouse on all addresses, to one user with the password of the published image's variables."""

import json
import os
import sys
from pathlib import Path

from aiohttp import web

import workers.local.clickhouse_server as server
from workers.local.clickhouse import NAME

PASSWORDS = Path("/tmp/passwords.json")


@web.middleware
async def any_client(request: web.Request, handler):
    return await handler(request)


PASSWORDS.write_text(json.dumps({NAME: os.environ["CLICKHOUSE_PASSWORD"]}))
server.LOOPBACK = "0.0.0.0"
server._own_clients_only = any_client
server.USER = os.environ["CLICKHOUSE_USER"]
sys.argv = ["clickhouse", "--path", "/var/lib/clickhouse/local", "--port", "8123", "--passwords", str(PASSWORDS)]
sys.exit(server.main())
