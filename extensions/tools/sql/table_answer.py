"""Answer a question in words about tables: choose the table, read, compute, and put it in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any, Final

from extensions.tools.sql.numbers import write_cell
from extensions.tools.sql.table_arguments import Question, read_arguments
from extensions.tools.sql.table_columns import AnalysedTable, Query
from extensions.tools.sql.table_computation import Computation
from extensions.tools.sql.table_profile import Profile, build_profile
from extensions.tools.sql.tables import format_row, quote_name, write_literal
from extensions.tools.sql.whole_table import TOTAL_ROW
from extensions.tools.tables.question_reading import read_part
from extensions.tools.tables.question_words import OTHER_NAMES, Token, join_words, split_question
from extensions.tools.tables.reading import Answered, Reading, describe_conditions
from nodes.errors import ToolRefused
from nodes.tools.framework.tool_report import format_cell, format_table

MAX_ROWS: Final = 10
MAX_RESULTS: Final = 20
MAX_NAMED: Final = 5
MAX_COLUMNS: Final = 30
_EXACT_BELOW: Final = 1
_FLOAT_CHARS: Final = 13

_PHRASES: Final = """
highest: Highest {what} | Höchster Wert ({what})
lowest: Lowest {what} | Niedrigster Wert ({what})
sum of: sum of | Summe von
average of: average of | Durchschnitt von
minimum of: lowest value of | kleinster Wert von
maximum of: highest value of | größter Wert von
count: number of rows | Anzahl der Zeilen
different: number of different | Anzahl verschiedener
share: share of {part} in percent | Anteil von {part} in Prozent
change: change from {first} to {last} | Änderung von {first} zu {last}
percent: percent | Prozent
from: From {source}: {columns}; {rows} of {all} rows used |
  Aus {source}: {columns}; {rows} von {all} Zeilen verwendet
where: where {conditions} | mit {conditions}
without: rows without a value, left out: {count} | ausgelassene Zeilen ohne Wert: {count}
totals: the row of totals left out | die Summenzeile ausgelassen
thing: “{thing}” was taken for {group} | „{thing}“ wurde gelesen als {group}
rows: the rows | die Zeilen
column: the column {name} | die Spalte {name}
missing: no column for {words}; there are {columns} |
  keine Spalte für {words}; vorhanden sind {columns}
no_rows: no row fits | keine Zeile passt
nothing: the question names nothing to compute; there are {columns} |
  die Frage nennt nichts zu berechnen; vorhanden sind {columns}
more: and {count} more | und {count} weitere
ratio: computed as the sum of {a} divided by the sum of {b} |
  berechnet als Summe von {a} geteilt durch Summe von {b}
grouped: summed over the rows of each {group} | summiert über die Zeilen je {group}
and: and | und
or: or | oder
columns: columns {names} | Spalten {names}
"""
PHRASES: Final = {
    language: {
        name: texts.split(" | ")[at]
        for name, _, texts in (
            line.partition(": ") for line in _PHRASES.strip().replace("|\n  ", "| ").splitlines()
        )
    }
    for at, language in enumerate(("en", "de"))
}
"""The program's own words in an answer, by language."""


def describe_answer(profile: Profile, answered: Answered, language: str) -> dict[str, Any]:
    """Return the result of the tool: summary, gaps, whether all was read, columns and rows."""
    words = PHRASES.get(language, PHRASES["en"])
    gaps = list(dict.fromkeys(_list_gaps(profile, answered, words)))
    if answered.is_missing or not answered.rows:
        return {"summary": "", "is_complete": False, "gaps": gaps}
    rows = answered.rows[:MAX_RESULTS]
    return {
        "summary": _Description(profile, answered, language).write(),
        "is_complete": not gaps,
        "gaps": gaps,
        "columns": answered.columns,
        "rows": rows,
        "results": [
            {"source": profile.table.source, "text": format_row(answered.columns, row)}
            for row in rows
        ],
    }


def join_names(names: Sequence[str], link: str = "and") -> str:
    """Return names as a list in words."""
    *most, last = names
    return f"{', '.join(most)} {link} {last}" if most else last


def write_number(value: Any, language: str, *, is_own: bool = False) -> str:
    """Return a number with marks between thousands; anything else as a table has it.

    Args:
        is_own: it is the table's own figure, which is not rounded.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "" if value is None else write_cell(value)
    if is_own and isinstance(value, float) and len(repr(value)) > _FLOAT_CHARS:
        short = float(f"{value:.7g}")  # 5.8 was written from a number of 32 bits
        value = short if isclose(short, value, rel_tol=1e-7) else value
    is_rounded = not is_own and isinstance(value, float) and abs(value) >= _EXACT_BELOW
    whole, point, decimals = write_cell(round(value, 2) if is_rounded else value).partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    grouped = f"{int(digits):,}" if digits.isdecimal() else digits
    shown = f"{sign}{grouped}{point}{decimals}"
    return shown.translate(str.maketrans(",.", ".,")) if language == "de" else shown


def _list_gaps(profile: Profile, answered: Answered, words: dict[str, str]) -> list[str]:
    asked, gaps = answered.asked, list(answered.asked.doubts)
    columns = ", ".join(profile.columns[:MAX_COLUMNS])
    if asked.unread:
        gaps.append(words["missing"].format(words=join_words(asked.unread), columns=columns))
    elif answered.is_missing and not gaps:
        gaps.append(words["nothing"].format(columns=columns))
    elif not answered.rows and not answered.is_missing:
        gaps.append(words["no_rows"])
    return gaps


class _Description:
    def __init__(self, profile: Profile, answered: Answered, language: str) -> None:
        self._profile, self._answered, self._language = profile, answered, language
        self._asked, self._words = answered.asked, PHRASES.get(language, PHRASES["en"])
        self._conditions = self._describe(self._asked.conditions)

    def write(self) -> str:
        """Return the sentence with the answer, the rows, and what they were computed from."""
        return "\n\n".join(filter(None, [self._state(), self._format_rows(), self._list_used()]))

    def _describe(self, conditions: Sequence[Any]) -> str:
        return describe_conditions(conditions, self._words["and"], self._words["or"])

    def _number(self, value: Any) -> str:
        asked = self._asked
        is_own = asked.function == "value" and not (asked.change or asked.is_share)
        return write_number(value, self._language, is_own=is_own)

    def _state(self) -> str:
        """Return the sentence with the answer."""
        asked, rows, labels = self._asked, self._answered.rows, self._answered.labels
        what = self._name_value()
        first = (*rows[0][labels:], None)[0]
        if asked.order and labels and not asked.by_last:
            what = self._words[asked.order].format(what=what)
            ties = sum(row[labels] == first for row in rows)
            rows = rows[: asked.limit if asked.change else max(asked.limit, ties)]
        shown = [f"{self._name_row(row)}{self._write_values(row)}" for row in rows[:MAX_NAMED]]
        left = len(rows) - MAX_NAMED
        more = f"; {self._words['more'].format(count=left)}" if left > 0 else ""
        filtered = self._conditions and self._words["where"].format(conditions=self._conditions)
        head = f"{what[:1].upper()}{what[1:]}{f' ({filtered})' if filtered else ''}"
        return f"{head}: {'; '.join(shown)}{more}."

    def _name_row(self, row: Sequence[Any]) -> str:
        named = [write_cell(cell) for cell in row[: self._answered.labels] if cell is not None]
        colon = ": " if self._answered.columns[self._answered.labels :] else ""
        return f"**{', '.join(map(format_cell, named))}**{colon}" if named else ""

    def _write_values(self, row: Sequence[Any]) -> str:
        values = [self._number(cell) for cell in row[self._answered.labels :]]
        percent = self._words["percent"]
        if not values:
            return ""
        if self._asked.change:
            first, last, by, rate = values
            return f"{first} → {last}, {by} (**{rate} {percent}**)"
        if len(values) > 1:
            names = self._answered.columns[self._answered.labels :]
            return ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
        return f"**{values[0]}{f' {percent}' if self._asked.is_share else ''}**"

    def _name_value(self) -> str:
        asked, words, labels = self._asked, self._words, self._answered.labels
        first, *others = self._answered.columns[labels:] or self._answered.columns[-1:]
        if asked.change:
            return words["change"].format(first=first, last=others[0])
        if asked.is_share:
            part = self._describe(asked.part) or asked.group or asked.bucket
            return words["share"].format(part=part)
        if asked.function == "count":
            return words["count"]
        for start in ("sum of", "average of", "minimum of", "maximum of", "different"):
            if first.startswith(f"{start} "):
                return f"{words[start]} {first.removeprefix(start).strip()}"
        return ", ".join([first, *others])

    def _format_rows(self) -> str:
        answered = self._answered
        if len(answered.rows) < 2:
            return ""
        rows = [
            [
                ("" if cell is None else write_cell(cell)) if at < answered.labels else number
                for at, (cell, number) in enumerate(zip(row, map(self._number, row), strict=True))
            ]
            for row in answered.rows[:MAX_ROWS]
        ]
        left = len(answered.rows) - MAX_ROWS
        more = f"\n\n({self._words['more'].format(count=left)})" if left > 0 else ""
        return format_table(answered.columns, rows) + more

    def _list_used(self) -> str:
        """Return the line that names table, columns, rows and what was left out."""
        asked, words, profile = self._asked, self._words, self._profile
        named = [*asked.measures, *asked.others, asked.divisor, asked.second, asked.group]
        conditions = [*asked.conditions, *asked.part]
        named += [each.column for each in conditions if not each.part]
        bucket = profile.times.write_bucket(asked.bucket) if asked.bucket else ""
        used = [bucket, *(sql for sql, _ in asked.ends), *(each.sql for each in conditions)]
        named += [name for name in profile.times.columns if quote_name(name) in " ".join(used)]
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(filter(None, named)))
        said = [
            words["from"].format(
                source=profile.table.source,
                columns=words["columns"].format(names=names) if names else words["count"],
                rows=write_number(self._answered.rows_used, self._language),
                all=write_number(profile.rows, self._language),
            )
        ]
        group, left_out = asked.group or asked.bucket, self._answered.left_out
        taken = words["column"].format(name=asked.thing_column)
        taken = taken if asked.thing_column else words["rows"]
        optional = {
            "where": self._conditions,
            "ratio": asked.divisor,
            "grouped": group if asked.function == "sum" and not asked.divisor else "",
            "without": write_number(left_out, self._language) if left_out else "",
            "totals": profile.totals,
            "thing": asked.thing,
        }
        said += [
            words[key].format(
                conditions=value,
                a=asked.measure,
                b=asked.divisor,
                group=taken if key == "thing" else group,
                count=value,
                thing=value,
            )
            for key, value in optional.items()
            if value
        ]
        return f"{'; '.join(said)}."


MAX_CELL_WORDS: Final = 6
MAX_SPANS: Final = 150
MAX_SEARCHED_COLUMNS: Final = 40
_MARKS: Final = " -./,'"
"""Marks in cells that a question may write in another way."""


def answer_question(
    tables: Sequence[AnalysedTable], asked: Question, query: Query, notes: Sequence[str]
) -> dict[str, Any]:
    """Return the summary of an answer, its rows with their sources, and what was not read.

    Args:
        tables: sampled.
        notes: on the cells that the query has met so far; grows as it is called.
        asked: words, and typed arguments that replace what the words say.
    """
    drops = asked.doubles == "drop"
    profiles = [build_profile(table, query, drops_doubles=drops) for table in tables]
    for profile in profiles:
        profile.prefer_times(split_question(asked.question))
    tried = [_try_table(profile, asked, query) for profile in profiles]
    best = max(tried, key=lambda each: each.score)
    reading = best.reading
    fitting = [each.profile.table.source for each in tried if each.score == best.score]
    if len(fitting) > 1 and not reading.unread:
        reading.doubts.append(f"{join_names(fitting)} fit equally")
    try:
        answer = Computation(best.profile, reading, query).compute()
    except ToolRefused as refusal:
        reading.doubts.append(str(refusal))
        answer = Answered(reading, is_missing=True)
    answered = describe_answer(best.profile, answer, asked.language)
    kept = [note for note in notes if not (best.profile.totals and TOTAL_ROW in note)]
    if kept and answered["summary"]:
        answered["summary"] += f"\n\n{'; '.join(kept)}."
    return answered | ({"notes": kept} if kept else {})


@dataclass
class _Tried:
    """A table, with the question as it reads against it."""

    profile: Profile
    reading: Reading
    score: int


def _try_table(profile: Profile, asked: Question, query: Query) -> _Tried:
    tokens = split_question(asked.question)
    reading = read_part(profile, tokens, _find_cells(profile, tokens, query))
    _apply_arguments(reading, profile, asked, query)
    heard = [token.role for token in tokens]
    lacking = len(reading.unread) + len(reading.doubts)
    named = sum(role in ("column", "cell") for role in heard)
    return _Tried(profile, reading, 2 * heard.count("title") + 2 * named - 10 * lacking)


def _apply_arguments(reading: Reading, profile: Profile, asked: Question, query: Query) -> None:
    """Replace what the words say with what typed arguments say."""
    try:
        read_arguments(reading, profile, asked, query)
    except ToolRefused as refusal:
        reading.doubts.append(str(refusal))
    for text in (*asked.rows_with, *asked.where):
        tokens = split_question(text)
        found = read_part(profile, tokens, _find_cells(profile, tokens, query))
        reading.unread += [text] if found.unread or not found.conditions else []
        reading.conditions += found.conditions
    if asked.share:
        reading.is_share = True
        reading.function = "sum" if reading.measure else "count"
        is_grouped = bool(reading.group or reading.bucket)
        reading.part = [each for each in reading.conditions if not each.part and not is_grouped]
        reading.conditions = [each for each in reading.conditions if each not in reading.part]


def _find_cells(profile: Profile, tokens: Sequence[Token], query: Query) -> list[tuple[str, str]]:
    """Return the columns of labels with those of their cells that may be in a question."""
    words = [token.word for token in tokens]
    spans = {
        "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + MAX_CELL_WORDS, len(words)) + 1)
        if all(word[0].isalnum() for word in words[start:end])
    }
    spans |= {
        OTHER_NAMES.get(word, word).removesuffix(end) for word in words for end in ("s", "es")
    }
    bare = {"".join(character for character in span if character not in _MARKS) for span in spans}
    wanted = ", ".join(f"({write_literal(span)})" for span in sorted(bare, key=len)[:MAX_SPANS])
    if not words or not profile.labels:
        return []
    selects = []
    for name in profile.labels[:MAX_SEARCHED_COLUMNS]:
        text = plain = f"CAST({quote_name(name)} AS VARCHAR(400))"
        for mark in _MARKS:
            plain = f"REPLACE({plain}, {write_literal(mark)}, '')"
        selects.append(
            f"SELECT DISTINCT {write_literal(name)} AS named, {text} AS cell "
            f"FROM {profile.rows_of} WHERE LOWER({plain}) IN (SELECT word FROM asked)"
        )
    sql = f"WITH asked(word) AS (VALUES {wanted}) {' UNION ALL '.join(selects)}"
    return [(str(name), str(cell)) for name, cell in query(sql)["rows"]]
