"""Files and folders of runs, which hold requests, documents and answers: for their user alone."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from nodes.errors import StoreError

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


def replace_private_file(path: Path, text: str, *, replaces: bool = True) -> None:
    """Write a file at once, mode 0600, so that no reader sees half of it.

    Raises:
        FileExistsError: there is one, and it is not to be replaced.
        OSError: it cannot be written; the earlier one is then unchanged.
    """
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        (os.replace if replaces else os.link)(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)


def tighten_mode(path: Path) -> None:
    """Remove the permissions of all but the owner; not of another user's file, or of a link."""
    with suppress(FileNotFoundError, PermissionError):
        found = path.lstat()
        if found.st_mode & _OTHERS and not stat.S_ISLNK(found.st_mode):
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)


SUBFOLDERS: Final = ("traces", "locks", "mcp", "errors", "exams", "documents")
_DATABASE_ENDINGS: Final = ("", "-wal", "-shm", ".new", ".store.lock")


@cache
def require_no_links(database: Path, current: Path) -> None:
    """Check the folder of a run database below the current folder, once in a process.

    A folder elsewhere was named by the user, and may have links.

    Raises:
        StoreError: a link leads out of it, or it holds what is neither a file nor a folder.
    """
    home = database.parent
    if not home.is_relative_to(current):
        return
    own, inside = home.resolve(), current.resolve()
    if not own.is_relative_to(inside):
        raise _build_error(home)
    for path in _list_places(home, database.name):
        if path.is_symlink() and not path.resolve().is_relative_to(own):
            raise _build_error(path)
        with suppress(OSError):  # what cannot be looked at is reported where it is used
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise _build_special_error(path)


def _list_places(home: Path, database: str) -> Iterator[Path]:
    """Yield what may be written: files by their names, and what is in the folders."""
    yield from (home / f"{database}{ending}" for ending in _DATABASE_ENDINGS)
    yield home / "ui.log"
    for folder in (home, *home.glob("postgres-*")):
        yield folder
        for name in SUBFOLDERS:
            yield folder / name
            if name != "documents" and not (folder / name).is_symlink():  # replaces no file
                yield from (folder / name).glob("*")


def _build_error(path: Path) -> StoreError:
    return StoreError(
        f"{path} is a link to another folder",
        cause="what is kept of runs would be written there",
        next="remove the link, or set SUPERVISE_DATABASE_URL=sqlite:////FOLDER/runs.sqlite",
    )


def _build_special_error(path: Path) -> StoreError:
    return StoreError(
        f"{path} is neither a file nor a folder",
        cause="to open it may wait for ever",
        next="remove it",
    )
