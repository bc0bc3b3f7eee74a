"""TCP proxies that misbehave: for ClickHouse's HTTP, and for Kafka's protocol as far as needed."""

import asyncio
import contextlib
import io
import struct
from collections.abc import Awaitable, Callable
from enum import Enum
from pathlib import Path

from aiokafka.protocol import produce

from tests.harness.tcp_servers import TcpServer
from workers.local.ports import LOOPBACK

PRODUCE = 0
TOPIC_AUTHORIZATION_FAILED = 29
REQUEST_TIMED_OUT = 7


class Mode(Enum):
    """What the proxy does to connections."""

    FORWARD = "forward"
    CUT = "cut"
    SLOW = "slow"
    DROP_REPLY = "drop reply"


class TcpProxy(TcpServer):
    """Forwards bytes, or does not.

    Args:
        target: port of the server on loopback, or its Unix socket.
        slow_seconds: pause before each reply in mode SLOW.
    """

    def __init__(self, target: int | Path, slow_seconds: float = 0.5) -> None:
        super().__init__(self._forward)
        self._target = target
        self._slow_seconds = slow_seconds
        self.mode = Mode.FORWARD
        self.faults = 0
        self.drop_replies_to: Callable[[bytes], bool] = lambda request: True

    def cut(self) -> None:
        """Close every connection and refuse new ones."""
        self.mode = Mode.CUT
        super().cut()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.mode is Mode.CUT:
            self.faults += 1
            return
        try:
            if isinstance(self._target, Path):
                upstream = await asyncio.open_unix_connection(self._target)
            else:
                upstream = await asyncio.open_connection(LOOPBACK, self._target)
        except OSError:
            return
        state = {"drop": False}
        try:
            await asyncio.wait(
                [
                    asyncio.create_task(self._requests(reader, upstream[1], state)),
                    asyncio.create_task(self._replies(upstream[0], writer, state)),
                ],
                return_when=asyncio.FIRST_COMPLETED,
            )
        except asyncio.CancelledError:
            self.faults += 1
        finally:
            upstream[1].transport.abort()

    async def _requests(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, state: dict[str, bool]) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if self.mode is Mode.DROP_REPLY and self.drop_replies_to(data):
                    state["drop"] = True
                sink.write(data)
                await sink.drain()

    async def _replies(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, state: dict[str, bool]) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if state["drop"]:
                    # The server has done it; the client will never hear.
                    self.faults += 1
                    return
                if self.mode is Mode.SLOW:
                    self.faults += 1
                    await asyncio.sleep(self._slow_seconds)
                sink.write(data)
                await sink.drain()


class KafkaProxy(TcpServer):
    """Forwards Kafka's protocol and can refuse writes to one topic.

    The broker behind it must advertise this proxy's address, so that no client finds a way around.

    Args:
        port: of the broker on loopback.
    """

    def __init__(self, port: int) -> None:
        super().__init__(self._forward)
        self._target = port
        self.refuse_topic: str | None = None
        self.faults = 0
        self._cut = False
        self._flowing = asyncio.Event()
        self._flowing.set()

    def cut(self) -> None:
        """Close every connection and refuse new ones, as a broker does that is restarted."""
        self._cut = True
        self.faults += self.open
        super().cut()

    def stall(self) -> None:
        """Hold every frame, as a broker does that stands still; connections stay."""
        self._flowing.clear()

    def mend(self) -> None:
        """Forward again."""
        self._cut = False
        self._flowing.set()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._cut:
            self.faults += 1
            return
        upstream = await asyncio.open_connection(LOOPBACK, self._target)
        try:
            await asyncio.wait(
                [
                    asyncio.create_task(_frames(reader, lambda frame: self._request(frame, writer, upstream[1]))),
                    asyncio.create_task(_frames(upstream[0], lambda frame: self._reply(frame, writer))),
                ],
                return_when=asyncio.FIRST_COMPLETED,
            )
        except asyncio.CancelledError:
            pass  # cut
        finally:
            upstream[1].transport.abort()

    async def _reply(self, frame: bytes, client: asyncio.StreamWriter) -> None:
        await self._flowing.wait()
        await _write(client, frame)

    async def _request(self, frame: bytes, client: asyncio.StreamWriter, broker: asyncio.StreamWriter) -> None:
        await self._flowing.wait()
        key, version, correlation = struct.unpack(">hhi", frame[:8])
        topic = self.refuse_topic
        if key == PRODUCE and topic is not None and topic.encode() in frame:
            self.faults += 1
            await _write(client, struct.pack(">i", correlation) + _refusal(frame, version, topic))
            return
        await _write(broker, frame)


def _refusal(frame: bytes, version: int, topic: str) -> bytes:
    """A produce response that refuses the topic and asks to send the others again."""
    length = struct.unpack(">h", frame[8:10])[0]
    request = getattr(produce, f"ProduceRequest_v{version}").decode(io.BytesIO(frame[10 + max(length, 0) :]))
    response = getattr(produce, f"ProduceResponse_v{version}")
    names = response.SCHEMA.fields[0].array_of.fields[1].array_of.names
    topics = []
    for name, partitions in request.topics:
        code = TOPIC_AUTHORIZATION_FAILED if name == topic else REQUEST_TIMED_OUT
        defaults = {"error_code": code, "offset": -1, "timestamp": -1, "log_start_offset": -1, "record_errors": []}
        topics.append(
            (name, [tuple((defaults | {"partition": entry[0]}).get(field) for field in names) for entry in partitions])
        )
    values = {"topics": topics, "throttle_time_ms": 0}
    message: bytes = response(*(values[name] for name in response.SCHEMA.names)).encode()
    return message


async def _frames(reader: asyncio.StreamReader, handle: Callable[[bytes], Awaitable[None]]) -> None:
    with contextlib.suppress(asyncio.IncompleteReadError, OSError):
        while True:
            size = struct.unpack(">i", await reader.readexactly(4))[0]
            await handle(await reader.readexactly(size))


async def _write(writer: asyncio.StreamWriter, frame: bytes) -> None:
    writer.write(struct.pack(">i", len(frame)) + frame)
    await writer.drain()
