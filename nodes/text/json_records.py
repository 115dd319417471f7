"""Read JSON that is a table: a list of like objects, or an object on each line."""

import csv
import json
from functools import lru_cache
from io import StringIO
from pathlib import PurePosixPath
from typing import Any, Final

from nodes.limits.nesting import parse_json
from nodes.text.plain_text import sanitize_text

_LINES: Final = (".jsonl", ".ndjson")
MAX_COLUMNS: Final = 400
MIN_RECORDS: Final = 2


@lru_cache(maxsize=16)
def read_records(name: str, text: str) -> str | None:
    """Return a JSON file that holds a list of objects as CSV; None for any other text.

    What is nested in an object is a cell with JSON; objects of which none has a plain value are no
    rows.
    """
    suffix = PurePosixPath(name.lower()).suffix
    try:
        if suffix in _LINES:
            rows: Any = [parse_json(line) for line in text.splitlines() if line.strip()]
        elif suffix == ".json" and text.lstrip("\ufeff \t\r\n")[:1] == "[":
            rows = parse_json(text.lstrip("\ufeff"))
        else:
            return None
    except ValueError:
        return None
    if len(rows) < MIN_RECORDS or not all(isinstance(row, dict) for row in rows):
        return None
    columns = list(dict.fromkeys(key for row in rows for key in row))
    plain = [key for key in columns if all(map(_is_plain, (row.get(key) for row in rows)))]
    if not plain or len(columns) > MAX_COLUMNS:
        return None
    written = StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(columns)
    writer.writerows([_write_cell(row.get(key)) for key in columns] for row in rows)
    return sanitize_text(written.getvalue())


def _is_plain(value: Any) -> bool:
    return not isinstance(value, dict | list)


def _write_cell(value: Any) -> str:
    if isinstance(value, str) or value is None:
        return value or ""
    return json.dumps(value, ensure_ascii=False)
