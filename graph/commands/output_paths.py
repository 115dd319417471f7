"""Refuses, before a run spends anything, a file that it could not be written to afterwards."""

import os
from pathlib import Path
from typing import Final

from nodes.errors import OutputFailed, UsageError

PAGE_SUFFIXES: Final = ("", ".html", ".htm")


def require_output(path: Path | None) -> Path | None:
    """Return the path of a file to write.

    Raises:
        OutputFailed: it is a folder, or in none that can be written to.
    """
    if path is None:
        return None
    if path.is_dir():
        cause = "it is a folder"
    elif not path.parent.is_dir():
        cause = f"there is no folder {path.parent}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        cause = "it may not be written"
    else:
        return path
    raise OutputFailed(f"cannot write {path}", cause=cause, next="name another file")


def require_page(path: Path | None) -> Path | None:
    """Return the path of a page to write.

    Raises:
        UsageError: its suffix is that of another format.
        OutputFailed: as `require_output`.
    """
    if path is not None and path.suffix.lower() not in PAGE_SUFFIXES:
        raise UsageError(f"--report writes HTML, and {path.name} ends with {path.suffix}")
    return require_output(path)
