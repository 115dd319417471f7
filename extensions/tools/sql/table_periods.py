"""Years, quarters and months: how a table's columns write them, in SQL, and in a question."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from extensions.tools.sql.tables import quote_name, write_literal
from extensions.tools.tables.question_words import (
    BUCKETS,
    MONTHS,
    ORDINALS,
    Token,
    is_identifier,
)
from extensions.tools.tables.reading import Condition
from nodes.limits.patterns import Pattern

_MONTH: Final = "|".join(MONTHS)
_BY_NAME: Final = "CASE {names} END"
_LAST_FOUR: Final = "SUBSTR({text}, LENGTH({text}) - 3, 4)"
_FIRST_FOUR: Final = "SUBSTR({text}, 1, 4)"
_DAY: Final = {"day": "REPLACE(REPLACE(SUBSTR({text}, 1, 10), '/', '-'), '.', '-')"}
_GERMAN_DAY: Final = (
    "SUBSTR({text}, 7, 4) || '-' || SUBSTR({text}, 4, 2) || '-' || SUBSTR({text}, 1, 2)"
)
_FORMS: Final[Sequence[tuple[str, str, Mapping[str, str]]]] = (
    ("", r"\d{4}[-/.](?:0\d|1[0-2])", {"year": _FIRST_FOUR, "month": "SUBSTR({text}, 6, 2)"}),
    (
        "",
        r"\d{4}[-/.](?:0\d|1[0-2])[-/.][0-3]\d.*",
        {"year": _FIRST_FOUR, "month": "SUBSTR({text}, 6, 2)", **_DAY},
    ),
    ("year", r"(?:1[89]|20|21)\d\d|1[5-7]\d\d", {"year": "{text}"}),
    (
        "",
        r"\d{4}[- ]?Q[1-4]",
        {"year": _FIRST_FOUR, "quarter": "SUBSTR({text}, LENGTH({text}), 1)"},
    ),
    ("", r"Q[1-4][- ]?\d{4}", {"year": _LAST_FOUR, "quarter": "SUBSTR({text}, 2, 1)"}),
    (
        "",
        rf"(?i:.{{0,4}}\b(?:{_MONTH})\b.{{0,8}}\d{{4}})",
        {"year": _LAST_FOUR, "month": _BY_NAME},
    ),
    (
        "",
        r"[0-3]\d\.(?:0\d|1[0-2])\.\d{4}",
        {"year": _LAST_FOUR, "month": "SUBSTR({text}, 4, 2)", "day": _GERMAN_DAY},
    ),
    ("", rf"(?i:{_MONTH})", {"month": _BY_NAME}),
    ("month", r"[1-9]|1[0-2]", {"month": "SUBSTR('0' || {text}, LENGTH({text}), 2)"}),
    ("", r"(?i:Q)[1-4]", {"quarter": "SUBSTR({text}, 2, 1)"}),
    ("quarter", r"[1-4]", {"quarter": "{text}"}),
)
"""How cells write periods, each with SQL for its parts; one with a kind needs a fitting name."""
_PATTERNS: Final = [Pattern(pattern) for _, pattern, _ in _FORMS]
_NAMES: Final = {
    "year": ("year", "yr", "jahr", "season", "time", "period", "date"),
    "month": ("month", "monat"),
    "quarter": ("quarter", "quartal", "qtr"),
}
"""In the name of a column whose cells are such parts of a period."""
YEAR: Final = Pattern(r"(?:1[5-9]|20|21)\d\d")
_ISO_PERIOD: Final = Pattern(r"(\d{4})-(\d\d)(?:-(\d\d))?")
_QUARTER: Final = Pattern(r"q([1-4])")
_DAY_OF_MONTH: Final = Pattern(r"([1-9]|[12]\d|3[01])(?:st|nd|rd|th)?")


@dataclass(frozen=True)
class Times:
    """SQL for the parts of the periods of a table's rows; empty where no column has the part."""

    year: str = ""
    quarter: str = ""
    month: str = ""
    day: str = ""
    columns: tuple[str, ...] = ()

    def write_bucket(self, bucket: str) -> str:
        """Return SQL for the year, quarter, month or day of a row, in the order of time."""
        part = str(getattr(self, bucket))
        if bucket in ("quarter", "month") and part and self.year:
            return f"{self.year} || '-{'Q' * (bucket == 'quarter')}' || {part}"
        return part


@dataclass(frozen=True, order=True)
class Period:
    """A year, quarter, month or day of a question; what is 0 is open."""

    year: int = 0
    quarter: int = 0
    month: int = 0
    day: int = 0

    def write(self, times: Times) -> tuple[str, str]:
        """Return SQL for the period of a row in these parts, and the value of it; else empty."""
        parts = {
            "year": f"{self.year:04d}" if self.year else "",
            "quarter": f"Q{self.quarter}" if self.quarter else "",
            "month": f"{self.month:02d}" if self.month else "",
            "day": f"{self.day:02d}" if self.day else "",
        }
        used = [name for name, value in parts.items() if value]
        if not used or not all(getattr(times, name) for name in used):
            return "", ""
        if self.day and not self.year:  # of any year
            return f"SUBSTR({times.day}, 6, 5)", f"{parts['month']}-{parts['day']}"
        if self.day:
            return times.day, f"{parts['year']}-{parts['month']}-{parts['day']}"
        marks = {"quarter": "'Q' || "}
        texts = [f"{marks.get(name, '')}{getattr(times, name)}" for name in used]
        return " || '-' || ".join(texts), "-".join(parts[name] for name in used)

    @property
    def finest(self) -> str:
        """Return the finest part that is known."""
        return next((n for n in ("day", "month", "quarter", "year") if getattr(self, n)), "")

    def __str__(self) -> str:
        """Return the period as ISO writes it, a quarter as 2025-Q1."""
        parts = [
            f"{self.year:04d}" if self.year else "",
            f"Q{self.quarter}" if self.quarter else "",
            f"{self.month:02d}" if self.month else "",
            f"{self.day:02d}" if self.day else "",
        ]
        if self.month and not self.year:
            month = next(name for name, at in MONTHS.items() if at == self.month).title()
            return f"{self.day} {month}" if self.day else month
        return "-".join(filter(None, parts))


def write_condition(
    times: Times, period: Period, last: Period, sign: str, at: int
) -> Condition | None:
    """Return the condition that rows are of a period, or up to the last one; None if none can be.

    Args:
        sign: a comparison, or "to" for a range.
        at: the place of its first word in a question.
    """
    (sql, value), (until, final) = period.write(times), last.write(times)
    if not sql or (sign == "to" and sql != until):
        return None
    condition, said = f"{sql} {sign} {write_literal(value)}", f"{sign} {period}"
    if sign == "to":
        condition = f"{sql} BETWEEN {write_literal(value)} AND {write_literal(final)}"
        said = f"= {period} to {last}"
    words, column = f"{period.finest} {said}", f"period {times.columns[0]}"
    return Condition(column, condition, words, at, period.finest, is_value=sign in ("=", "to"))


def find_times(samples: Mapping[str, Sequence[Any]], named: Iterable[str]) -> Times:
    """Return the parts of periods that columns have; of several, the named ones count first."""
    first = list(named)
    found = dict[str, str]()
    columns = list[str]()
    for name in sorted(samples, key=lambda each: each not in first):
        form = _find_form(name, samples[name])
        parts = {} if form is None else _write_parts(form, _write_text(name, samples[name]))
        if new := {part: sql for part, sql in parts.items() if part not in found}:
            found |= new
            columns.append(name)
    return Times(**found, columns=tuple(columns))


def list_time_columns(samples: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the columns whose cells are periods."""
    return [name for name, cells in samples.items() if _find_form(name, cells)]


def _find_form(name: str, cells: Sequence[Any]) -> Mapping[str, str] | None:
    """Return SQL for the parts of the periods that all cells are; None if they are none."""
    texts = [f"{cell:g}" if isinstance(cell, float) else str(cell).strip() for cell in cells]
    for (kind, _, parts), pattern in zip(_FORMS, _PATTERNS, strict=True) if texts else ():
        is_named = not kind or any(each in name.lower() for each in _NAMES[kind])
        is_recent = kind == "year" and min(texts) >= "1800" and not is_identifier(name)
        if (is_named or is_recent) and all(map(pattern.fullmatch, texts)):
            return parts
    return None


def _write_text(name: str, cells: Sequence[Any]) -> str:
    """Return SQL for a cell as text; numbers without decimals."""
    cell = quote_name(name)
    is_number = any(isinstance(each, int | float) for each in cells)
    whole = f"CAST({cell} AS BIGINT)" if is_number else cell
    return f"TRIM(CAST({whole} AS VARCHAR(40)))"


def _write_parts(parts: Mapping[str, str], text: str) -> dict[str, str]:
    """Return SQL for each part of a period as text, months with two digits."""
    names = " ".join(
        f"WHEN LOWER({text}) LIKE '%{name[:3]}%' THEN '{number:02d}'"
        for name, number in MONTHS.items()
        if name in ("mär", "mai", "okt", "dez") or (len(name) == 3 and name.isascii())
    )
    written = {part: sql.format(text=text, names=names) for part, sql in parts.items()}
    if month := written.get("month"):
        pairs = " ".join(f"WHEN {month} <= '{3 * n:02d}' THEN '{n}'" for n in (1, 2, 3, 4))
        written["quarter"] = f"CASE {pairs} END"
    return written


def read_period(tokens: Sequence[Token], at: int) -> tuple[Period, int]:
    """Return the period that begins at a token, and how many tokens it takes; 0 for none."""
    words = [token.word for token in tokens[at : at + 5]]
    words += [""] * (5 - len(words))
    kept = [word for word in words[1:] if word not in ("of", "the", "des", "im", "in", ",")]
    following = kept[0] if kept else ""
    skipped = words[1:].index(following) if following else 0
    year = int(following) if YEAR.fullmatch(following) else 0
    with_year = 2 + skipped if year else 1
    if iso := _ISO_PERIOD.fullmatch(words[0]):
        return Period(*map(int, (iso[1], 0, iso[2], iso[3] or 0))), 1
    if YEAR.fullmatch(words[0]):
        if quarter := _QUARTER.fullmatch(words[1]):
            return Period(int(words[0]), int(quarter[1])), 2
        return Period(int(words[0])), 1
    if (quarter := _QUARTER.fullmatch(words[0])) or (
        (words[0] in ORDINALS or words[0].isdigit()) and BUCKETS.get(words[1]) == "quarter"
    ):
        number = int(quarter[1] if quarter else ORDINALS.get(words[0], words[0]))
        if quarter:
            return Period(year, number), with_year
        rest, used = read_period(tokens, at + 2 + (words[2] in ("of", "des", "the")))
        is_year = bool(used and rest.year and not rest.month)
        return Period(rest.year * is_year, number), (
            2 + (words[2] in ("of", "des", "the")) + used if is_year else 2
        )
    if words[0] in MONTHS and tokens[at].text[:1].isupper():
        return _read_day_after(words) or (Period(year, 0, MONTHS[words[0]]), with_year)
    return _read_day_before(tokens, at, words)


def _read_day_after(words: Sequence[str]) -> tuple[Period, int] | None:
    """Return the day that a month begins with, as in "March 15, 2024"; None if it is none."""
    if not (day := _DAY_OF_MONTH.fullmatch(words[1])):
        return None
    at = 2 + (words[2] == ",")
    year = int(words[at]) if YEAR.fullmatch(words[at]) else 0
    return Period(year, 0, MONTHS[words[0]], int(day[1])), at + 1 if year else 2


def _read_day_before(tokens: Sequence[Token], at: int, words: Sequence[str]) -> tuple[Period, int]:
    """Return the day that a month ends with, as in "15 March 2024" and "1st of May"."""
    skipped = 1 + (words[1] == "of")
    if (day := _DAY_OF_MONTH.fullmatch(words[0])) and words[skipped] in MONTHS:
        rest, used = read_period(tokens, at + skipped)
        if used and rest.month and not rest.day:
            return Period(rest.year, 0, rest.month, int(day[1])), skipped + used
    return Period(), 0
