"""Files and folders of runs, which hold requests, documents and answers: for their user alone."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

PRIVATE_FOLDERS: Final = frozenset({".supervise", ".langgraph_api"})
"""Where all is ours: folders that exist there are tightened, others are the user's to share."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents with mode 0700; tighten one that exists and is ours.

    Raises:
        OSError: it cannot be created.
    """
    for each in (*reversed(folder.parents), folder):
        if each == folder or not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)
        if PRIVATE_FOLDERS & set(each.parts):
            tighten_mode(each)


def open_private_file(path: str, flags: int) -> int:
    """Return a file descriptor as the `opener` of `open`: mode 0600, also of a file that exists."""
    descriptor = os.open(path, flags, 0o600)
    with suppress(PermissionError):  # another user's, who has let this one write
        if os.fstat(descriptor).st_mode & _OTHERS:
            os.fchmod(descriptor, 0o600)
    return descriptor


def replace_private_file(path: Path, text: str) -> None:
    """Replace a file at once, mode 0600, so that no reader sees half of it.

    Raises:
        OSError: it cannot be written; the earlier one is then unchanged.
    """
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)


def tighten_mode(path: Path) -> None:
    """Remove the permissions of all but the owner; not of another user's file, or of a link."""
    with suppress(FileNotFoundError, PermissionError):
        found = path.lstat()
        if found.st_mode & _OTHERS and not stat.S_ISLNK(found.st_mode):
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
