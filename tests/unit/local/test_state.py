"""Recorded processes are believed only when they are provably the ones recorded."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workers.local.errors import LocalServiceError
from workers.local.ports import LOOPBACK, choose_port, free_port, is_free
from workers.local.processes import ProcessIdentity, identity_of, is_alive
from workers.local.state import RecordedProcess, StateDirectory, read_addresses


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing until it is ended."""
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that listens on a free loopback port."""
    with socket.create_server((LOOPBACK, 0)) as server:
        yield server


def own_identity() -> ProcessIdentity:
    identity = identity_of(os.getpid())
    assert identity is not None
    return identity


def test_ended_process_has_no_identity_even_before_it_is_reaped(
    bystander: subprocess.Popen[bytes],
) -> None:
    identity = identity_of(bystander.pid)
    assert identity is not None
    assert is_alive(identity)
    bystander.kill()
    os.waitid(os.P_PID, bystander.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(identity)


def test_orphan_is_ended_and_a_stranger_with_its_process_id_is_not(
    tmp_path: Path, bystander: subprocess.Popen[bytes]
) -> None:
    identity = identity_of(bystander.pid)
    assert identity is not None
    state = StateDirectory(tmp_path)
    state.lock()
    state.record({"redis": RecordedProcess(ProcessIdentity(bystander.pid, "another time"), 1)}, ready=True)
    state.end_orphans()
    assert bystander.poll() is None
    state.record({"redis": RecordedProcess(identity, 1)}, ready=False)
    state.end_orphans()
    assert bystander.wait(60) != 0
    assert not state.services_file.exists()
    state.release()


def test_addresses_are_given_only_while_process_and_port_answer(tmp_path: Path, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    state = StateDirectory(tmp_path)
    state.lock()
    process = RecordedProcess(own_identity(), port)
    state.record({"redis": process}, ready=False)
    assert read_addresses(tmp_path) is None, "not ready yet"
    state.record({"redis": process}, ready=True)
    found = read_addresses(tmp_path)
    assert found is not None
    assert found.redis_url == f"redis://127.0.0.1:{port}/0"
    assert found.kafka_bootstrap_servers is None
    listener.close()
    assert read_addresses(tmp_path) is None, "nothing listens any more"
    state.release()


def test_a_unix_socket_is_an_address_without_a_port(tmp_path: Path) -> None:
    path = tmp_path / "a folder" / "valkey.sock"
    path.parent.mkdir()
    state = StateDirectory(tmp_path)
    state.lock()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        state.record({"redis": RecordedProcess(own_identity(), 0, str(path))}, ready=True)
        found = read_addresses(tmp_path)
        assert found is not None
        assert found.redis_url == f"unix://{tmp_path}/a%20folder/valkey.sock?db=0"
        assert state.previous_ports() == {}
    assert read_addresses(tmp_path) is None, "nothing listens any more"
    state.release()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"state": "running", "processes": {"redis": {"identity": 3}}}',
        '{"state": 1}',
    ],
)
def test_damaged_record_is_no_record(tmp_path: Path, content: str) -> None:
    (tmp_path / "services.json").write_text(content)
    assert read_addresses(tmp_path) is None
    assert StateDirectory(tmp_path).processes() == {}


def test_missing_directory_has_no_services(tmp_path: Path) -> None:
    assert read_addresses(tmp_path / "nowhere") is None


def test_record_is_complete_json_for_other_readers(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.lock()
    state.record({"clickhouse": RecordedProcess(own_identity(), 8123)}, ready=True)
    content = json.loads(state.services_file.read_text())
    assert content["clickhouse_url"] == "http://127.0.0.1:8123"
    assert content["pids"] == {"clickhouse": os.getpid()}
    assert content["started_at"].endswith("+00:00")
    assert state.previous_ports() == {"clickhouse": 8123}
    state.release()
    assert not state.services_file.exists()


def test_second_lock_names_directory_holder_and_remedy(tmp_path: Path) -> None:
    first, second = StateDirectory(tmp_path), StateDirectory(tmp_path)
    first.lock()
    with pytest.raises(LocalServiceError) as refusal:
        second.lock()
    assert str(tmp_path) in str(refusal.value)
    assert str(os.getpid()) in str(refusal.value)
    assert "another state directory" in refusal.value.remedy
    second.release()
    with pytest.raises(LocalServiceError):
        second.lock()
    first.release()
    second.lock()
    second.release()


def test_unusable_state_directory_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalServiceError, match="file/state"):
        StateDirectory(tmp_path / "file" / "state").lock()


def test_fixed_port_in_use_is_refused_and_a_previous_one_replaced(listener: socket.socket) -> None:
    taken = listener.getsockname()[1]
    with pytest.raises(LocalServiceError, match=f"port {taken}"):
        choose_port("kafka", taken, None)
    with pytest.raises(LocalServiceError, match="not a valid port"):
        choose_port("kafka", 70_000, None)
    assert choose_port("kafka", None, taken) != taken
    free = free_port()
    assert choose_port("kafka", None, free) == free
    assert is_free(free)
