"""Define the settings of the commands that read files."""

from pydantic import Field

from workers.process.line_files import MAX_LINE_BYTES
from workers.settings.sections.groups import Group


class FileSettings(Group):
    """Configure the files that commands read."""

    max_line_bytes: int = Field(
        default=MAX_LINE_BYTES,
        ge=10_000,
        description="Longest line of a file, and longest file of one JSON document, bytes after decompression.",
    )
