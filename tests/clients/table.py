"""Write the table of clients: ``python -m tests.clients.table > docs/reference/clients.md``."""

from collections.abc import Iterator
from typing import Any

from tests.clients.recordings import COLUMNS, RECORDINGS, row

_HEAD = """# Clients

What arrives of one question with one document, asked with the real package of each client against a local model server. The recordings are in [tests/data/clients](../../tests/data/clients); `tests/unit/gateways/test_clients.py` reads them and compares this table.

- **contexts**: the document arrives as a source: from a retriever, a tool, or documents of the request. A document within the instructions is no source for any client.
- **user**, **session**: sent only by clients to which the recipe gives them. How to set them: [fields by format](gateways.md#fields-by-format).
- A call that asked for a tool first is a step of the answer, not an answer.

A recording is made again in an environment with the client's packages: `PYTHONPATH=. python -m tests.clients.record NAME tests/data/clients` ([recipes](../../tests/clients/recipes.py)). The recordings of the Vercel AI SDK come from Node.js, with the same question and server.

"""
_VERSIONS_SHOWN = 3


def lines() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| name | packages | format | " + " | ".join(COLUMNS) + " |"
    yield "|" + "---|" * (len(COLUMNS) + 3)
    for name, recording in RECORDINGS.items():
        arrives = row(recording)
        cells = [name, _packages(recording), f"`{recording.get('format', 'otlp')}`"]
        yield "| " + " | ".join([*cells, *("yes" if arrives[column] else "–" for column in COLUMNS)]) + " |"


def page() -> str:
    """Return the page."""
    return _HEAD + "\n".join(lines()) + "\n"


def _packages(recording: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in list(recording["versions"].items())[:_VERSIONS_SHOWN])


if __name__ == "__main__":
    print(page(), end="")
