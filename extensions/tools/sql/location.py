"""Resolve where the analyst's data is, from the setting to an engine."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.csv_table import TABLE_SUFFIXES
from nodes.tools.framework.document_kinds import WORKBOOK_SUFFIXES

Engine = Literal["sqlite", "duckdb", "files", "postgres", "none"]
DATA_SUFFIXES = WORKBOOK_SUFFIXES | {*TABLE_SUFFIXES, ".parquet"}


@dataclass(frozen=True)
class DatabaseLocation:
    """An engine and its target: a path, or the URL of a server."""

    engine: Engine
    target: str = ""


def locate_database(sql_url: str | None) -> DatabaseLocation:
    """Return the engine for a path, or for `sqlite:///`, `duckdb:///`, `postgresql://`.

    Raises:
        ToolRefused: nothing is there, or it is not a supported kind of database.
    """
    if not sql_url:
        return DatabaseLocation("none")
    if Pattern(r"postgres(ql)?://").match(sql_url):
        return DatabaseLocation("postgres", sql_url)
    if found := Pattern(r"(sqlite|duckdb):///(.*)", re.DOTALL).match(sql_url):
        return DatabaseLocation(
            _detect_engine(Path(found[2]), found[1]), str(Path(found[2]).absolute())
        )
    if "://" in sql_url:
        raise _build_refusal("it is neither a path nor sqlite:///, duckdb:///, postgresql://")
    return DatabaseLocation(_detect_engine(Path(sql_url), ""), str(Path(sql_url).absolute()))


def list_data_files(target: str) -> list[Path]:
    """Return the data files of a folder, or the one file itself; links are left out."""
    path = Path(target)
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [
        file
        for file in files
        if file.suffix.lower() in DATA_SUFFIXES and file.is_file() and not file.is_symlink()
        if not file.name.startswith("~$")
    ]


def _detect_engine(path: Path, said: str) -> Engine:
    if path.is_dir():
        return "files"
    if not path.is_file():
        raise _build_refusal(f"there is no file {path.name!r}")
    if path.suffix.lower() in DATA_SUFFIXES:
        return "files"
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"SQLite format 3\0") or (said == "sqlite" and not head):
        return "sqlite"
    if said == "duckdb" or head[8:12] == b"DUCK":
        return "duckdb"
    raise _build_refusal(f"{path.name!r} is not SQLite, DuckDB, CSV, XLSX, ODS or Parquet")


def _build_refusal(cause: str) -> ToolRefused:
    return ToolRefused(
        f"the database cannot be opened: {cause}; work from the files of your handoff, or "
        "report that its address must be fixed (setting: SUPERVISE_SQL_URL)"
    )
