"""Read the guidelines for the reviewers of a tenant from a folder of Markdown files."""

from pathlib import Path
from urllib.parse import quote

DEFAULT = "default"


def guidelines_of(folder: Path | None, tenant: str) -> str | None:
    """Return the guidelines of a tenant, else those for all; ``None`` if there are none.

    The name of a file is the name of its tenant, with all but letters, digits and ``_.-~`` percent-encoded.
    """
    if folder is None:
        return None
    for name in (quote(tenant, safe=""), DEFAULT):
        try:
            return (folder / f"{name}.md").read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
    return None
