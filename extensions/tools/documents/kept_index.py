"""The index of a large folder, kept in a file of the user's: a new process need not build it.

A run's materials are small, and never kept. The file holds the documents' text, so a folder has
only one, which is replaced by the next search after one of its documents has changed or gone.
"""

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from extensions.tools.documents.index import PassageIndex
from nodes.security.private_files import make_private_folder

MIN_KEPT_CHARS: Final = 2_000_000
"""Less text is indexed in a quarter of a second, and leaves nothing behind."""
MAX_KEPT_BYTES: Final = 500_000_000
"""Of all files together; those that were not used for longest go first."""
SEAL_BYTES: Final = 32
"""At the end of each file."""
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_UNUSABLE: Final = (OSError, sqlite3.Error, RuntimeError, AttributeError)
"""The last two: a user without a home folder, and a SQLite that cannot read from memory."""


def compute_index_key(root: Path, documents: Iterable[tuple[str, str]]) -> str:
    """Return what tells an index apart: its folder, and the names and texts that it is built from.

    Returns:
        The name of the folder's file, and behind a dot the SHA-256 of what is in the folder.
    """
    digest = sha256(_describe_code())
    for part in (part for document in documents for part in document):
        raw = part.encode(errors="surrogatepass")
        digest.update(len(raw).to_bytes(8) + raw)
    return f"{sha256(os.fsencode(root)).hexdigest()[:32]}.{digest.hexdigest()}"


def read_index(key: str) -> PassageIndex | None:
    """Return the index that was kept for a key; None if there is none that can be trusted."""
    try:
        path = _locate_file(key)
        found = path.lstat()
        if not (stat.S_ISREG(found.st_mode) and _is_own(found) and _is_own(path.parent.lstat())):
            return None
        with path.open("rb") as file:
            raw = file.read(max(0, min(found.st_size, MAX_KEPT_BYTES) - SEAL_BYTES))
            if file.read(SEAL_BYTES + 1) != _seal(key, sha256(raw).digest()):
                return None
        os.utime(path)
        return PassageIndex.load(raw)
    except _UNUSABLE:
        return None


def save_index(key: str, index: PassageIndex, chars: int) -> None:
    """Keep an index in the place of the folder's earlier one, if its text of `chars` is large.

    Where the user's folder cannot be written nothing is kept.
    """
    with suppress(*_UNUSABLE):
        path = _locate_file(key)
        for earlier in path.parent.glob(f"{path.name}*"):  # and what a killed process has left
            earlier.unlink(missing_ok=True)
        if chars < MIN_KEPT_CHARS:
            return
        make_private_folder(path.parent)
        if not _is_own(path.parent.lstat()):
            return
        handle, draft = tempfile.mkstemp(prefix=path.name, dir=path.parent)  # 0600
        try:
            with open(handle, "r+b") as file:
                index.save(Path(draft))
                file.write(_seal(key, file_digest(file, "sha256").digest()))
            os.replace(draft, path)
        finally:
            Path(draft).unlink(missing_ok=True)
        _drop_oldest(path.parent)


def _locate_file(key: str) -> Path:
    """Return the folder's file in the user's cache, which is not in the current folder."""
    folder = user_cache_path("supervisor-worker", appauthor=False) / "documents"
    if not folder.is_absolute():
        raise FileNotFoundError(folder)
    return folder / key.partition(".")[0]


def _is_own(found: os.stat_result) -> bool:
    """Return whether only this user could have written a file or folder."""
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE


def _seal(key: str, digest: bytes) -> bytes:
    """Return what ends a file: its index is whole, and the one of this key."""
    return sha256(key.encode() + digest).digest()


def _drop_oldest(folder: Path) -> None:
    """Remove the files that were not used for longest where all together are too large."""
    found = [(each.stat().st_mtime_ns, each.stat().st_size, each) for each in folder.iterdir()]
    left = MAX_KEPT_BYTES
    for _, size, path in sorted(found, reverse=True):
        left -= size
        if left < 0:
            path.unlink(missing_ok=True)


@cache
def _describe_code() -> bytes:
    """Return what an index depends on beside the texts: how they are cut, and SQLite's words."""
    code = (each.read_bytes() for each in sorted(Path(__file__).parent.glob("*.py")))
    return sqlite3.sqlite_version.encode() + sha256(b"\0".join(code)).digest()
