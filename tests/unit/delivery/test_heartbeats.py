"""Check how soon the members of a group learn of a rebalance: by their next heartbeat."""

from pathlib import Path

import pytest

from schemas.topics import ANSWERS_GENERATED
from workers.delivery.application import AgentApplication
from workers.settings import Settings


@pytest.mark.parametrize(("session", "heartbeat"), [(6.0, 1.5), (10.0, 2.5), (45.0, 3.0), (300.0, 3.0)])
async def test_a_long_session_does_not_make_rebalances_long(tmp_path: Path, session: float, heartbeat: float) -> None:
    settings = Settings(_env_file=None, state_dir=str(tmp_path))
    settings.kafka.session_timeout_seconds = session
    application = AgentApplication("citations", [ANSWERS_GENERATED], settings, "127.0.0.1:1")
    assert application.app.conf.broker_heartbeat_interval == heartbeat
