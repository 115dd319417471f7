"""Divides texts, tables and JSON into passages: a sentence each, or a row with its cells."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from string import punctuation
from typing import Any, Final

from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.text.csv_table import CsvUnreadable, is_missing, is_table_name, open_csv

_SENTENCE_END: Final = Pattern(
    r"(?<=[.!?;])(?<!\b[A-Z][a-z]{0,2}\.)(?<!\b[a-z]\.[a-z]\.)[\"')\]\u201d]*\s+"
    r"(?=[\"'(\[\u201c]?[A-Z\u00c0-\u00de])|(?<=[\u3002\uff01\uff1f])"
)
"""Also after the full stops of Chinese and Japanese."""
_STARTS_BLOCK: Final = Pattern(r"^(?:[-*+•] |\d{1,3}[.)] |#{1,6} |\||>)")
_HEADING: Final = Pattern(r"^(?:#{1,6}\s+(\S.*)|\*\*([^*]+)\*\*:?|(\S.{0,80}):)$")
_UNDERLINE: Final = Pattern(r"^[=~^-]{3,}$")
_BETWEEN: Final = str.maketrans(
    dict.fromkeys(
        "\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u2013\u2014\u2022\u2026\u00a0\u202f\u3002\u3001\uff0c\uff01\uff1f\uff08\uff09\u300c\u300d\uff1a\uff1b"
        + punctuation,
        " ",
    )
)
"""Signs between words: to divide at them is ten times as fast as to search for words."""
_CJK: Final = Pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
STEM_CHARS: Final = 5
"""Words that begin alike are taken for forms of one word, in any language."""
MAX_CELL_CHARS: Final = 60


def split_words(text: str) -> list[str]:
    """Return the words and numbers of a text as they are written, without signs."""
    return text.translate(_BETWEEN).split()


def list_words(text: str) -> list[str]:
    """Return the stems of a text's words; of writing without spaces each pair of signs."""
    words = list[str]()
    for word in split_words(text.casefold()):
        if word.isalpha() and (word.isascii() or not _CJK.search(word)):
            words.append(word[:STEM_CHARS])
        elif word.isalpha():
            words += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            words.append(word)
    return words


@dataclass(frozen=True)
class Passage:
    """A sentence, or a row of a table with its cells."""

    text: str
    heading: str = ""
    cells: tuple[tuple[str, str], ...] = ()
    """Column and cell."""


def divide_text(name: str, text: str, is_structured: bool) -> Iterator[Passage]:
    """Yield the passages of a text, which may be JSON or, by its name, a table."""
    if is_structured:
        yield from _divide_value(parse_result(text))
    elif is_table_name(name):
        try:
            opened = open_csv(StringIO(text, newline=""))
            for record in opened.read_rows():
                yield build_row(opened.columns, record.cells)
        except (CsvUnreadable, csv.Error):
            yield from _divide_prose(text)
    else:
        yield from _divide_prose(text)


def build_row(columns: Sequence[str], cells: Sequence[Any]) -> Passage:
    """Return a row of a table as a passage."""
    pairs = tuple((str(c), str(v)) for c, v in zip(columns, cells, strict=False) if v is not None)
    return Passage("; ".join(f"{column}: {cell}" for column, cell in pairs), "", pairs)


def _divide_value(value: Any) -> Iterator[Passage]:
    """Yield the passages of JSON: a table's rows, objects of scalars as rows, texts as prose."""
    match value:
        case {"columns": [*columns], "rows": [*rows], **others} if all(
            isinstance(row, list) for row in rows
        ):
            yield from (build_row(list(map(str, columns)), row) for row in rows)
            yield from _divide_value(others)
        case dict():
            scalars = {key: each for key, each in value.items() if _is_short(each)}
            yield from [build_row(list(scalars), list(scalars.values()))] if scalars else []
            for key in value.keys() - scalars.keys():
                yield from _divide_value(value[key])
        case list() if value and all(map(_is_short, value)):
            yield Passage(", ".join(map(str, value)))
        case list():
            for each in value:
                yield from _divide_value(each)
        case str():
            yield from _divide_prose(value)


def _is_short(value: Any) -> bool:
    is_text = isinstance(value, str) and len(value) <= MAX_CELL_CHARS and "\n" not in value
    return is_text or isinstance(value, int | float)


def _divide_prose(text: str) -> Iterator[Passage]:
    """Yield the sentences of a text; a list item, a heading or a table row begins a new one."""
    heading, block, columns = "", list[str](), list[str]()
    for line, following in pairwise([*text.splitlines(), "", ""]):
        if block and (not line.strip() or _STARTS_BLOCK.match(line.lstrip())):
            yield from _divide_block(block, heading)
            block = []
        if line.lstrip().startswith("|") and line.count("|") > 2:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if columns and not set(line) <= {*"|-: "}:
                yield build_row(columns, cells)
            columns = columns or cells
            continue
        columns = []
        if title := _read_heading(line, block, following):
            if block != [title]:
                yield from _divide_block(block, heading)
            yield Passage(title, heading)
            heading, block = title, []
        elif line.strip():
            block.append(line.strip())
    yield from _divide_block(block, heading)


def _read_heading(line: str, block: Sequence[str], following: str) -> str:
    """Return the heading that a line is, or that it underlines; empty if it is none."""
    if len(block) == 1 and _UNDERLINE.match(line.strip()):
        return block[0]
    is_clause = line.rstrip().endswith(":") and bool(block or following.strip())
    found = None if is_clause else _HEADING.match(line.strip())
    return next(filter(None, found.groups())).strip() if found else ""


def _divide_block(block: list[str], heading: str) -> Iterator[Passage]:
    joined = " ".join(line.strip() for line in block)
    for sentence in _SENTENCE_END.split(joined):
        if sentence and sentence.strip():
            yield Passage(sentence.strip(), heading)


def label_passage(passage: Passage) -> str:
    """Return the words by which a passage is found: of a row its labels, columns and periods."""
    if not passage.cells:
        return f"{passage.text} {passage.heading}"
    return " ".join(cell for _, cell in passage.cells)


def are_labels(cells: Sequence[str]) -> bool:
    """Return whether most cells of a column are words, or all are years or days."""
    known = [cell.strip() for cell in cells if not is_missing(cell.strip())]
    bare = [cell.strip("-+$€£% ").replace(",", "").replace(".", "", 1) for cell in known]
    numbers = [cell for cell, digits in zip(known, bare, strict=True) if digits.isdigit()]
    if len(numbers) < len(known) / 2:
        return True
    return all(cell.isdigit() and "1800" <= cell <= "2100" for cell in numbers)


def parse_result(text: str) -> Any:
    """Return JSON that a tool returned; None where it is something else."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return parse_json(text)
    except ValueError:
        return None
