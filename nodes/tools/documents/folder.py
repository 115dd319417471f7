"""The documents in a user's folder: regular files inside it, nothing else."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nodes.tools.documents.read import PARSED
from nodes.tools.replies import listed

READABLE = PARSED | {
    *(".md", ".markdown", ".txt", ".text", ".rst"),
    *(".csv", ".tsv", ".json", ".log", ".diff", ".patch"),
}
MAX_DOCUMENTS = 2000


@dataclass(frozen=True)
class Stored:
    """A document of the folder, and what tells that it has changed."""

    name: str
    """Relative to the folder, with forward slashes."""
    path: Path
    mtime_ns: int
    size: int


@dataclass(frozen=True)
class Skipped:
    """A file that is not read, and why."""

    source: str
    reason: str
    is_document: bool = True
    """It would be searched, could it be read; not so a picture, or a link."""


def list_unread(skipped: Sequence[Skipped]) -> str:
    """Return the documents that could not be read, with reasons; empty when all could."""
    return listed(f"{item.source} ({item.reason})" for item in skipped if item.is_document)


def stored_documents(root: Path) -> tuple[list[Stored], list[Skipped]]:
    """List the folder's documents by name, hidden files left out; and what is not read."""
    stored, skipped = list[Stored](), list[Skipped]()
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(".")):
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            found = path.lstat()
            if reason := _reason(path, found):
                skipped.append(Skipped(relative, reason, is_document=False))
            elif len(stored) == MAX_DOCUMENTS:
                skipped.append(Skipped(relative, f"more than {MAX_DOCUMENTS} documents"))
            else:
                stored.append(Stored(relative, path, found.st_mtime_ns, found.st_size))
    return stored, skipped


def _reason(path: Path, found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return "a link, which is not followed"
    if not stat.S_ISREG(found.st_mode):
        return "not a regular file"
    if path.suffix.lower() not in READABLE:
        return f"a kind of file that is not read: {path.suffix or 'no suffix'}"
    return ""
