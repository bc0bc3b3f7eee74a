"""Run a local server that speaks the protocol of S3, with one bucket."""

import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow.fs as pafs
import pytest
from moto.server import ThreadedMotoServer

BUCKET = "backups"


def aws_environment() -> dict[str, str]:
    """Return the variables of the environment that a process needs for the server."""
    return {name: value for name, value in os.environ.items() if name.startswith("AWS_")}


@contextmanager
def s3_server(environment: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the options of an address that lead to the server; credentials are set in the environment."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        # All servers of a process have the same buckets.
        urllib.request.urlopen(f"http://{host}:{port}/moto-api/reset", data=b"").close()
        for name, value in (
            ("AWS_ACCESS_KEY_ID", "somebody"), ("AWS_SECRET_ACCESS_KEY", "a-secret-of-aws"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
        ):  # fmt: skip
            environment.setenv(name, value)
        options = f"?endpoint_override={host}:{port}&scheme=http&region=eu-central-1"
        system, bucket = pafs.FileSystem.from_uri(f"s3://{BUCKET}{options}&allow_bucket_creation=true")
        system.create_dir(bucket)
        yield options
    finally:
        server.stop()
