"""Finds the computations that a request asks for and that no report has made."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from nodes.limits.patterns import Pattern
from nodes.models.embedded.column_matching import CHANGE_WORDS, split_name
from nodes.models.embedded.text_similarity import extract_words
from nodes.models.embedded.unanswered_parts import list_texts, split_request
from nodes.text.word_lists import ASKING_WORDS

_TABLE_MARK: Final = "\n| --- |"
_EQUATION: Final = r"\S = -?[\d.]"
_CHANGES: Final = "|".join(sorted(CHANGE_WORDS))
_MADE_BY_ASKED: Final = {
    r"\b(?:totals?|sum|altogether|combined)\b": r"\b(?:sums?|totals?|altogether|combined)\b",
    r"\b(?:averages?|mean of|the mean)\b": r"\b(?:avg|averages?|mean)\b",
    r"\bmedians?\b": r"\bmedians?\b",
    r"\b(?:standard deviation|variance)\b": r"\b(?:deviation|variance)\b",
    r"\bcorrelat": r"\bcorrelat",
    r"\bminus\b|\bdifferences? (?:between|in|of)\b|\bsubtract": r"\bdifference",
    r"\b(?:share|percentage|percent|proportion) of\b": r"\b(?:shares?|percent\w*|proportion)\b|%",
    r"\bratio\b|\bdivided by\b": r"\bratio\b|\bdivided\b|\w per \w",
    rf"\bhow\b.*\b(?:{_CHANGES})\b|\b(?:{_CHANGES}) (?:of|in|from|between)\b": (
        r"\b(?:growth|changes?|difference)\b|percent|%"
    ),
}
"""Words that ask for a computation, with those that a report has where it was made."""
_COMPUTATIONS: Final = [
    (Pattern(asked, re.IGNORECASE), Pattern(rf"{made}|{_EQUATION}", re.IGNORECASE))
    for asked, made in _MADE_BY_ASKED.items()
]
_PRODUCT: Final = Pattern(r"(\w+) (?:times|multiplied by|[x\u00d7*]) (?:the )?(\w+)", re.IGNORECASE)
_NUMBER_CELL: Final = Pattern(r"\| -?\d+(?:\.\d+)? \|")
_ROW: Final = Pattern(r"^\| (?!---).*", re.MULTILINE)


def list_uncomputed_parts(request: str, reports: Iterable[dict[str, Any]]) -> list[str]:
    """Return the parts of a request that ask to compute what the reports' tables hold only as rows.

    A part is about a table if it has a word of its column names. A table of one row may be what is
    asked for, except for several results.
    """
    done = list(reports)
    tables = [rows for report in done if (rows := _list_rows(report))]
    columns = {word for head, *_ in tables for cell in head.split("|") for word in split_name(cell)}
    text = "\n".join(text for report in done for text in list_texts(report))
    has_rows = any(len(rows) > 2 for rows in tables)
    return [
        part
        for part in split_request(request)
        if columns.intersection(extract_words(part))
        and (has_rows or ASKING_WORDS.intersection(part.lower().split()[1:]))
        and _is_uncomputed(part, columns, text)
    ]


def _list_rows(report: dict[str, Any]) -> Sequence[str]:
    """Return the column names and the rows of a report's table of numbers; nothing without one."""
    output = str(report.get("output", ""))
    rows = _ROW.findall(output) if _TABLE_MARK in output else []
    return rows if any(map(_NUMBER_CELL.search, rows[1:])) else []


def _is_uncomputed(part: str, columns: set[str], text: str) -> bool:
    if any(asked.search(part) and not made.search(text) for asked, made in _COMPUTATIONS):
        return True
    factors = [set(extract_words(" ".join(found.groups()))) for found in _PRODUCT.finditer(part)]
    is_asked = any(len(each) > 1 and each <= columns for each in factors)
    return is_asked and not Pattern(_EQUATION).search(text)
