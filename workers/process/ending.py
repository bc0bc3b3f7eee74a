"""End the process of a service once its resources are closed."""

import asyncio
import logging
import os
import sys
from collections.abc import Coroutine
from typing import Any, NoReturn

import uvloop


def run_service(service: Coroutine[Any, Any, int]) -> NoReturn:
    """Run a service to its end, then end the process at once.

    A thread that imports or warms up a model cannot be cancelled and writes nothing. Python would wait for it, and
    then take seconds to release the modules of the models.

    Args:
        service: closes everything that it has opened, and returns the exit code. Its errors are raised as usual.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        code = runner.run(service)
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
