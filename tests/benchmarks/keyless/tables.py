"""Computes what a question on tables wants, with SQLite, from the files themselves."""

import csv
import io
import sqlite3
from collections.abc import Sequence
from pathlib import Path

Cell = float | str
EMPTY = {"", "NA"}


def query_tables(sql: str, files: Sequence[Path]) -> list[tuple[Cell, ...]]:
    """Return the rows of a query over CSV files: the tables `t`, `t2`, `t3` and so on.

    A cell that is a number is one in SQLite, an empty one or `NA` is NULL; a column without a name
    is `row`.
    """
    database = sqlite3.connect(":memory:")
    try:
        for number, file in enumerate(files, start=1):
            _load_table(database, "t" if number == 1 else f"t{number}", file)
        return database.execute(sql).fetchall()
    finally:
        database.close()


def _load_table(database: sqlite3.Connection, name: str, file: Path) -> None:
    header, *rows = csv.reader(io.StringIO(file.read_text("utf-8-sig")))
    columns = ", ".join('"' + (column or "row").replace('"', "") + '"' for column in header)
    marks = ", ".join("?" * len(header))
    database.execute(f"CREATE TABLE {name} ({columns})")
    cells = [[_read_cell(cell) for cell in row] for row in rows if len(row) == len(header)]
    database.executemany(f"INSERT INTO {name} VALUES ({marks})", cells)


def _read_cell(text: str) -> Cell | None:
    text = text.strip()
    if text in EMPTY:
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number
