"""From the files a user names to a request's materials: name to text."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from nodes.errors import FileUnreadable
from nodes.tools.documents.folder import READABLE
from nodes.tools.documents.read import read_document

MAX_TOTAL_BYTES: Final = 5_000_000
MAX_FILES: Final = 200
DATABASES: Final = frozenset(
    (".parquet", ".sqlite", ".sqlite3", ".db", ".duckdb", ".feather", ".xlsx", ".xls")
)

WORKED_ON: Final = READABLE | {
    *(".jsonl", ".ndjson", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".properties", ".py"),
}
"""What of a folder is given; the search in documents leaves code and settings alone."""


def read_materials(files: Iterable[Path]) -> dict[str, str]:
    """Read files, and the documents right inside folders; two of one name get distinct names.

    Raises:
        FileUnreadable: one of them cannot be read, or all together are too large.
    """
    paths = [path for file in files for path in _expanded(file)]
    if len(paths) > MAX_FILES:
        raise FileUnreadable(
            f"{len(paths)} files, of at most {MAX_FILES}",
            next="set SUPERVISE_DOCUMENTS to their folder, which is searched instead",
        )
    _check_size(paths)
    return {name: read_document(path) for name, path in _named(paths).items()}


def _expanded(path: Path) -> list[Path]:
    kind = _kind(path)
    if not stat.S_ISDIR(kind):
        _check_file(path, kind)
        return [path]
    try:
        found = sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise _refused(path, error.strerror or str(error), "check the permissions") from None
    # An empty file, such as the `__init__.py` of a package, has nothing to give.
    documents = [e for e in found if e.is_file() and _is_document(e) and e.stat().st_size]
    if not documents:
        raise _refused(path, "no document lies right inside this folder", _kinds())
    return documents


def _kind(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise _refused(path, cause, "check the name and the permissions") from None


def _check_file(path: Path, kind: int) -> None:
    if path.suffix.lower() in DATABASES:
        raise _refused(
            path, "it holds data, not text", f"set SUPERVISE_SQL_URL={path} and leave --file out"
        )
    if not stat.S_ISREG(kind):
        raise _refused(path, "it is not a regular file", "copy its contents into a file")
    if not os.access(path, os.R_OK):
        raise _refused(path, "permission denied", "check the permissions")


def _is_document(path: Path) -> bool:
    return path.suffix.lower() in WORKED_ON


def _check_size(paths: Iterable[Path]) -> None:
    total = 0
    for path in paths:
        total += path.stat().st_size
        if total > MAX_TOTAL_BYTES:
            raise FileUnreadable(
                f"the files hold more than {MAX_TOTAL_BYTES / 1e6:g} MB, with {path}",
                next="set SUPERVISE_DOCUMENTS to their folder, which is searched instead",
            )


def _named(paths: Iterable[Path]) -> Mapping[str, Path]:
    """Name each file by as much of its path as tells it from the others."""
    named: dict[str, Path] = {}
    real = dict.fromkeys(path.resolve() for path in paths)
    for path in real:
        name = next((name for name in _names(path) if name not in named), str(path))
        named[name] = path
    return named


def _names(path: Path) -> Iterator[str]:
    parts = [part for part in path.parts if part != path.anchor]
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[-count:])


def _kinds() -> str:
    return f"name files of these kinds: {' '.join(sorted(WORKED_ON))}"


def _refused(path: Path, cause: str, advice: str) -> FileUnreadable:
    return FileUnreadable(f"cannot read {path}", cause=cause, next=advice)
