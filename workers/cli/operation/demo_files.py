"""Choose the files of a demo, and name what kinds of answers are in them."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.errors import TouchstoneError
from workers.evaluation.text.languages.language import known_language
from workers.process.paths import examples_directory


@dataclass(frozen=True, slots=True)
class DemoFiles:
    """Files of a demo.

    Attributes:
        answers: files of answers as JSON lines.
        chunks: file of chunks of answers; ``None`` without one.
    """

    answers: tuple[Path, ...]
    chunks: Path | None = None

    def identifiers(self, rejected: Collection[tuple[Path, int]] = ()) -> list[str]:
        """Return the identifiers of all answers, each once.

        Args:
            rejected: files and numbers of lines, from 1, that are left out.

        Raises:
            TouchstoneError: a file cannot be read, or a line has no ``answer_id``.
        """
        return list(dict.fromkeys(str(line["answer_id"]) for place, line in self._lines() if place not in rejected))

    def kinds(self) -> dict[str, list[str]]:
        """Return the identifiers of answers of some kinds, by words for the kind.

        Raises:
            TouchstoneError: as for ``identifiers``.
        """
        found: dict[str, dict[str, None]] = {}
        for _, line in self._lines():
            for kind in _kinds_of(line):
                found.setdefault(kind, {})[str(line["answer_id"])] = None
        return {kind: list(names) for kind, names in found.items()}

    def _lines(self) -> Iterator[tuple[tuple[Path, int], Mapping[str, Any]]]:
        for path in (*self.answers, *([self.chunks] if self.chunks else [])):
            for number, line in _lines_of(path):
                yield (path, number), line


def demo_files(file: Path | None) -> DemoFiles:
    """Return a given file, else the examples."""
    if file is not None:
        return DemoFiles((file,))
    folder = examples_directory()
    names = ("answers.jsonl", "conversations.jsonl", "tools.jsonl")
    return DemoFiles(tuple(folder / name for name in names), folder / "chunks.jsonl")


def _lines_of(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    found = json.loads(line)
                    found["answer_id"]
                    yield number, found
    except OSError as error:
        raise TouchstoneError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise TouchstoneError(
            f"{path} must contain JSON lines with answer_id; check it with touchstone ingest"
        ) from error


def _kinds_of(line: Mapping[str, Any]) -> Iterator[str]:
    if "index" in line:
        yield "streamed"
    if line.get("conversation"):
        yield "with earlier turns"
    if any("tool" in (context.get("source_type"), *context) for context in line.get("contexts") or []):
        yield "over results of tools"
    if known_language(str(line.get("answer", ""))) not in (None, "en"):
        yield "in another language than English"
