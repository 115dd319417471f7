"""Read the sheets of a spreadsheet as CSV texts; runs in the child process that parses documents.

Line n of a text is row n of its sheet. Nothing is computed, no macro runs, no link is followed.
"""

import datetime
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from extensions.tools.sql.numbers import MAX_PLAIN, MIN_PLAIN
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_name

MAX_SHEETS: Final = 100
MAX_NAME_CHARS: Final = 100
"""Of a sheet; programs allow 31."""
MAX_CELLS: Final = 20_000_000
HEADER_ROWS: Final = 50
"""Rows that are not empty, among which the one of the column names is looked for."""
NO_VALUE: Final = "#NO VALUE"
"""In place of a formula that the file holds no value of."""
PROTECTED: Final = "it is protected with a password; save a copy without one"
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_DAMAGED: Final = (ValueError, OSError, KeyError, EOFError, RuntimeError, zlib.error)
"""What `zipfile` raises, besides its own error, on a damaged or encrypted package."""
_DIMENSION: Final = Pattern(r'<(?:\w+:)?dimension ref="[A-Z]{1,3}\d+:([A-Z]{1,3})(\d+)"')
_DURATION: Final = Pattern(r"PT(\d+)H(\d+)M(\d+)(?:[.,]\d+)?S")
_QUOTED: Final = frozenset('";,\t|#')

# A library would return the cells with errors, and formulas without a value, as empty ones.
_XLSX_CELLS: Final = (
    (Pattern(r'(<(?:\w+:)?c\b[^<>]{0,200}?\bt=")e"'), r'\1str"'),
    (
        Pattern(
            r"<((?:\w+:)?)c\b(?![^<>]{0,200}\bt=)([^<>/]{0,200})>\s*"
            r"<\1f\b[^<>]{0,200}(?:/>|>[^<>]*</\1f>)\s*(?:<\1v\s*/>|<\1v>\s*</\1v>)?\s*</\1c>"
        ),
        rf'<\1c\2 t="str"><\1v>{NO_VALUE}</\1v></\1c>',
    ),
)
_ODS_CELLS: Final = (
    (
        Pattern(r' office:string-value=""(?=[^<>]{0,400}calcext:value-type="error")'),
        "",
    ),
    (
        Pattern(
            r"(<table:table-cell\b(?![^<>]{0,10000}office:value-type)"
            r"[^<>]{0,400}\btable:formula=)"
        ),
        rf'<table:table-cell office:value-type="string" office:string-value="{NO_VALUE}" table:x=',
    ),
)


def parse_workbook(raw: bytes, max_chars: int) -> dict[str, str]:
    """Return a CSV text for each sheet that holds something, by what follows the file's name.

    That is nothing for the only visible sheet, else `#` and the sheet's name.

    Raises:
        ToolRefused: it is no spreadsheet, needs a password, or is too large.
    """
    from python_calamine import CalamineError, PasswordError, load_workbook

    if _ENCRYPTED in raw:
        raise ToolRefused(PROTECTED)
    try:
        book = load_workbook(io.BytesIO(_mark_missing_values(raw)))
        sheets = _read_sheets(book, max_chars)
    except PasswordError:
        raise ToolRefused(PROTECTED) from None
    except (CalamineError, zipfile.BadZipFile, *_DAMAGED) as error:
        raise ToolRefused(f"not a readable spreadsheet: {error}") from None
    visible = [name for name, (_, is_hidden) in sheets.items() if not is_hidden]
    return {
        "" if visible == [name] else f"#{name}{' (hidden)' * is_hidden}": text
        for name, (text, is_hidden) in sheets.items()
    }


def _read_sheets(book: Any, max_chars: int) -> dict[str, tuple[str, bool]]:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    found, room = dict[str, tuple[str, bool]](), max_chars
    kinds = (SheetTypeEnum.WorkSheet, SheetTypeEnum.MacroSheet)
    metadata = [each for each in book.sheets_metadata if each.typ in kinds]
    if len(metadata) > MAX_SHEETS:
        raise ToolRefused(f"it has {len(metadata)} sheets, of at most {MAX_SHEETS}")
    for each in metadata:
        sheet = book.get_sheet_by_name(each.name)
        if sheet.start is None:
            continue
        text = _cut(_list_lines(sheet), max(0, room), max_chars)
        if not text.strip():
            continue
        room -= len(text)
        name = sanitize_name(each.name)[:MAX_NAME_CHARS]
        found[name if name not in found else f"{name} ({len(found) + 1})"] = (
            text,
            each.visible != SheetVisibleEnum.Visible,
        )
    return found


def _cut(lines: Iterable[str], room: int, max_chars: int) -> str:
    kept = list[str]()
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, f"[cut at {max_chars} characters]"])
        kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"


def _list_lines(sheet: Any) -> Iterator[str]:
    """Yield a line for each row; rows above the column names as comments."""
    filled = _fill_merged(sheet.iter_rows(), sheet)
    first, counts, seen = list[list[str]](), list[int](), 0
    for row in filled:
        first.append(row)
        counts.append(sum(map(bool, row)))
        seen += counts[-1] > 0
        if seen == HEADER_ROWS:
            break
    widest = max(counts)
    header = next(at for at, count in enumerate(counts) if 3 * count >= 2 * widest)
    for at, row in enumerate(first):
        if at < header:
            yield f"# {title}" if (title := " ".join(filter(None, row))) else ""
        elif at == header and counts[at]:
            yield _write_row([cell or f"column{n}" for n, cell in enumerate(row, start=1)])
        else:
            yield _write_row(row)
    yield from map(_write_row, filled)


def _fill_merged(rows: Iterable[Sequence[Any]], sheet: Any) -> Iterator[list[str]]:
    """Yield the rows as texts; a text in a cell that spans rows is the text of each of them.

    A number is not repeated, so that no sum counts it twice.
    """
    left = sheet.start[1]
    spans = {
        (top, column - left): bottom
        for (top, column), (bottom, _) in sheet.merged_cell_ranges or ()
        if bottom > top and column >= left
    }
    repeated = dict[int, tuple[str, int]]()
    for at, row in enumerate(rows):
        cells = list(map(_write_value, row))
        for column, cell in enumerate(cells if spans else ()):
            text, last = repeated.get(column, ("", -1))
            if at <= last and not cell:
                cells[column] = text
            elif isinstance(row[column], str) and (bottom := spans.get((at, column))):
                repeated[column] = cell, bottom
        yield cells


def _write_value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float():
            digits = f"{value:.15g}"  # as many as a spreadsheet shows
            is_short = "e" in digits and MIN_PLAIN < abs(value) < MAX_PLAIN
            return f"{Decimal(digits):f}" if is_short else digits
        case datetime.datetime():
            is_day = value.time() == datetime.time()
            return (value.date() if is_day else value).isoformat(*([] if is_day else [" "]))
        case datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return _write_duration(round(value.total_seconds()))
        case str():
            found = _DURATION.fullmatch(value) if value.startswith("PT") else None
            hours, minutes, seconds = map(int, found.groups()) if found else (0, 0, 0)
            total = 3600 * hours + 60 * minutes + seconds
            return _write_duration(total) if found else " ".join(value.split())
        case _:
            return str(value)


def _write_duration(seconds: int) -> str:
    sign, left = "-" * (seconds < 0), abs(seconds)
    return f"{sign}{left // 3600:02}:{left // 60 % 60:02}:{left % 60:02}"


def _write_row(cells: Sequence[str]) -> str:
    if not any(cells):
        return ""
    return ",".join(
        cell if _QUOTED.isdisjoint(cell) else '"' + cell.replace('"', '""') + '"' for cell in cells
    )


def _mark_missing_values(raw: bytes) -> bytes:
    """Return a workbook whose cells with errors, and formulas without a value, hold texts.

    Raises:
        ToolRefused: it needs a password, or its cells are too far apart.
    """
    if not raw.startswith(b"PK"):
        return raw
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as package, zipfile.ZipFile(changed, "w") as written:
        for part in package.infolist():
            content = package.read(part)
            if part.filename.startswith("xl/worksheets/") and part.filename.endswith(".xml"):
                _check_dimension(content)
                content = _replace(content, b"</row>", (b't="e"', b"<f"), _XLSX_CELLS)
            elif part.filename.startswith("META-INF/") and b"encryption-data" in content:
                raise ToolRefused(PROTECTED)
            elif part.filename == "content.xml":
                ends = (b'"error"', b"table:formula=")
                content = _replace(content, b"</table:table-row>", ends, _ODS_CELLS)
            written.writestr(part.filename, content)
    return changed.getvalue()


def _check_dimension(sheet: bytes) -> None:
    """Refuse a sheet whose cells are too far apart: the library makes room for all between."""
    if found := _DIMENSION.search(sheet[:4000].decode("latin-1")):
        column = 0
        for letter in found[1]:
            column = 26 * column + ord(letter) - 64
        if column * int(found[2]) > MAX_CELLS:
            raise ToolRefused(
                f"a sheet of it reaches to the cell {found[1]}{found[2]}; delete the empty rows "
                "and columns, or save the table as CSV"
            )


def _replace(
    content: bytes,
    row_end: bytes,
    marks: tuple[bytes, ...],
    changes: Sequence[tuple[Pattern, str]],
) -> bytes:
    """Return a part of the workbook with the cells of those rows changed that hold a mark."""
    rows = content.split(row_end)
    for at, row in enumerate(rows):
        if any(mark in row for mark in marks):
            text = row.decode("latin-1")  # each byte a character, so that none changes
            for pattern, changed in changes:
                text = pattern.sub(changed, text)
            rows[at] = text.encode("latin-1")
    return row_end.join(rows)
