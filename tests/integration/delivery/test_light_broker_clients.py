"""Which clients the light broker serves is as docs/operations/kafka.md says."""

import shutil
import subprocess

import pytest

from workers.settings.addresses import Addresses

pytestmark = pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed")


def listed(addresses: Addresses, *options: str) -> subprocess.CompletedProcess[str]:
    command = ["kcat", "-b", addresses.kafka, "-L", "-m", "5", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_librdkafka_lists_topics_only_without_api_versions(
    addresses: Addresses, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--broker") == "kafka":
        assert listed(addresses).returncode == 0
        return
    plain = listed(addresses)
    assert (plain.returncode, "Read underflow" in plain.stderr) == (1, True), "mend the table if it is served now"
    old = listed(addresses, "-X", "api.version.request=false", "-X", "broker.version.fallback=0.9.0")
    assert "1 brokers" in old.stdout
