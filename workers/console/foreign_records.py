"""Read the records of a request in the format of another system, for intake and check."""

import gzip
import io
import zlib
from dataclasses import replace
from typing import Annotated

from fastapi import Path, Request
from pydantic_core import from_json, to_json

from workers.console.http.problems import Problem
from workers.console.identity.principal import Principal
from workers.console.resources import ConsoleResources
from workers.gateways.adapted import Received
from workers.gateways.errors import UnadaptableRecord
from workers.gateways.formats import Format
from workers.gateways.reading.envelopes import Opened, from_http
from workers.observability.logs import get_logger
from workers.process.plugins import PluginError, UnknownPlugin

MAX_RECORDS = 500
"""Maximum number of records in one request."""
PROTOBUF = "application/x-protobuf"

log = get_logger(__name__)

FormatName = Annotated[
    str,
    Path(min_length=1, max_length=200, description="Format of the records: built in, of a mapping or of a plug-in."),
]


def format_of(name: str, resources: ConsoleResources) -> Format:
    """Return the format of a name.

    Raises:
        Problem: 404, unknown format; 503, the format's plug-in is ambiguous or broken.
    """
    try:
        return resources.settings.gateways.format_named(name)
    except UnknownPlugin as unknown:
        raise Problem(404, str(unknown)) from None
    except PluginError as error:
        # The text of an import error may quote what the plug-in read: it is for the operator alone.
        log.error("format_open_failed", format=name, error=str(error))
        raise Problem(
            503, f"the plug-in of the format {name} cannot be used; the console's log has the reason"
        ) from None


def records_of(body: bytes, request: Request, received: Received) -> list[Opened]:
    """Return the records of a request: a batch of CloudEvents, a list, or a single record."""
    opened = from_http(body, dict(request.headers), received)
    # A protobuf length byte can equal the opening bracket of a JSON list.
    may_be_list = len(opened) == 1 and media_type(request) != PROTOBUF
    found = [each for one in opened for each in (_listed(one) if may_be_list else [one])]
    if not 1 <= len(found) <= MAX_RECORDS:
        raise Problem(422, f"a request must have 1 to {MAX_RECORDS} records; split it")
    return found


def _listed(opened: Opened) -> list[Opened]:
    if (opened.value or b"").lstrip()[:1] != b"[":
        return [opened]
    try:
        return [replace(opened, value=to_json(each, inf_nan_mode="null")) for each in from_json(opened.value or b"")]
    except ValueError:
        raise UnadaptableRecord("the body is not valid JSON; send UTF-8 JSON") from None


def fixed_tenant(principal: Principal, wanted: str | None) -> str | None:
    """Return the tenant of all records: the requested one, or the only tenant of the token.

    Return ``None`` if each record names its own tenant.
    """
    return principal.tenant(wanted) if wanted or len(principal.tenants) == 1 else None


def media_type(request: Request) -> str:
    """Return the media type of a request's body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def decompressed(body: bytes, request: Request, limit: int) -> bytes:
    """Return the body without its encoding; a gzip body may have several members."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise Problem(415, "this Content-Encoding is not supported; send gzip or none")
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as packed:
            content = packed.read(limit + 1)
    except (OSError, EOFError, zlib.error):
        raise Problem(
            400, "the body is damaged or incomplete gzip; send the encoding that Content-Encoding names"
        ) from None
    if len(content) > limit:
        raise Problem(413, f"the body is larger than {limit} bytes after decompression; send fewer records per request")
    return content
