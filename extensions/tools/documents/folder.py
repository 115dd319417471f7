"""List the documents in a user's folder: regular files inside it, nothing else."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nodes.tools.framework.document_kinds import READABLE_SUFFIXES, UNLISTED_PREFIXES
from nodes.tools.framework.tool_report import join_names

MAX_DOCUMENTS = 2000


@dataclass(frozen=True)
class StoredDocument:
    """A document of the folder, and what shows that it has changed."""

    name: str
    """Relative to the folder, with forward slashes."""
    path: Path
    mtime_ns: int
    size: int


@dataclass(frozen=True)
class SkippedFile:
    """A file that is not read, and why."""

    source: str
    reason: str
    is_document: bool = True
    """Whether it would be searched if it could be read; false for a picture or a link."""


def describe_unread(skipped: Sequence[SkippedFile]) -> str:
    """Return the documents that could not be read, with reasons; empty if all could."""
    return join_names(f"{item.source} ({item.reason})" for item in skipped if item.is_document)


def list_documents(root: Path) -> tuple[list[StoredDocument], list[SkippedFile]]:
    """Return the folder's documents by name, except hidden files; and what is not read."""
    stored, skipped = list[StoredDocument](), list[SkippedFile]()
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(UNLISTED_PREFIXES)):
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            found = path.lstat()
            if reason := _find_skip_reason(path, found):
                skipped.append(SkippedFile(relative, reason, is_document=False))
            elif len(stored) == MAX_DOCUMENTS:
                skipped.append(SkippedFile(relative, f"more than {MAX_DOCUMENTS} documents"))
            else:
                stored.append(StoredDocument(relative, path, found.st_mtime_ns, found.st_size))
    return stored, skipped


def _find_skip_reason(path: Path, found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return "a link, which is not followed"
    if not stat.S_ISREG(found.st_mode):
        return "not a regular file"
    if path.suffix.lower() not in READABLE_SUFFIXES:
        return f"a kind of file that is not read: {path.suffix or 'no suffix'}"
    return ""
