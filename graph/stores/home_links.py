"""Refuses links and FIFOs in the folder of runs, which may have come with an untrusted folder.

What is written through a link lands elsewhere: in a key file, or in a shell's start file. To open
a FIFO may wait for ever.
"""

import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from nodes.errors import StoreError

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
