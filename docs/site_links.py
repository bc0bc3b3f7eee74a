"""Prepare pages for the site: links to files outside of docs become plain code."""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#\s]+)(?:#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Return the page with each link that leaves docs replaced by the path as code.

    Args:
        markdown: the page as it stands in the repository.
        page: the page of MkDocs.
        config: the configuration of MkDocs.

    Raises:
        FileNotFoundError: a link names a file that the repository does not have.
    """
    folder = PurePosixPath("docs") / PurePosixPath(page.file.src_uri).parent
    root = Path(config["docs_dir"]).parent

    def plain(link: re.Match[str]) -> str:
        target = normpath(str(folder / link[2]))
        if target.startswith("docs/"):
            return link[0]
        if not (root / target).exists():
            raise FileNotFoundError(f"{page.file.src_uri} links to {target}, which does not exist")
        name = link[1].strip("`")
        return f"`{target}`" if "/" in name else f"{name} (`{target}`)"

    return LINK.sub(plain, markdown)
