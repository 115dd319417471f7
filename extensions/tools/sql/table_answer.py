"""Put in words what was computed for a question about a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import Any, Final

from extensions.tools.sql.numbers import write_cell
from extensions.tools.sql.table_profile import Profile
from extensions.tools.sql.tables import format_row, quote_name
from extensions.tools.tables.formatting import format_column, read_phrases, split_unit
from extensions.tools.tables.question_words import BUCKETS, is_same_word, join_words, split_name
from extensions.tools.tables.reading import Answered, describe_conditions
from nodes.text.units import CURRENCIES
from nodes.tools.framework.tool_report import format_cell, format_table

MAX_ROWS: Final = 15
MAX_RESULTS: Final = 20
MAX_NAMED: Final = 5
MAX_COLUMNS: Final = 30
MAX_PADDED: Final = 2
_EXACT_BELOW: Final = 1
_FLOAT_CHARS: Final = 13

_GERMAN_PERIODS: Final = {
    "year": "Jahr",
    "quarter": "Quartal",
    "month": "Monat",
    "day": "Tag",
    "to": "bis",
    "January": "Januar",
    "February": "Februar",
    "March": "März",
    "May": "Mai",
    "June": "Juni",
    "July": "Juli",
    "October": "Oktober",
    "December": "Dezember",
}
_COMPUTED: Final = ("sum of", "average of", "minimum of", "maximum of", "different")
_PHRASES: Final = """
highest: Highest {what} | Höchster Wert ({what})
in_row:  in a single row |  in einer Zeile
lowest: Lowest {what} | Niedrigster Wert ({what})
first: First by {what} | Erster nach {what}
last: Last by {what} | Letzter nach {what}
sum of: sum of | Summe von
average of: average of | Durchschnitt von
minimum of: lowest value of | kleinster Wert von
maximum of: highest value of | größter Wert von
count: number of rows | Anzahl der Zeilen
different: number of different values of | Anzahl verschiedener Werte von
share: share of {part} in percent | Anteil von {part} in Prozent
change: change from {first} to {last} | Änderung von {first} zu {last}
change_of: change of {what} from {first} to {last} | Änderung von {what}, {first} zu {last}
percent: percent | Prozent
point: . | ,
from: From {source}: {columns}; {rows} of {all} rows used |
  Aus {source}: {columns}; {rows} von {all} Zeilen verwendet
where: where {conditions} | mit {conditions}
without: rows without a value, left out: {count} | ausgelassene Zeilen ohne Wert: {count}
without_group: rows without a value or without {group}, left out: {count} |
  ausgelassene Zeilen ohne Wert oder ohne {group}: {count}
totals: the row of totals left out | die Summenzeile ausgelassen
thing: “{thing}” was taken to mean each {group} | „{thing}“ wurde verstanden als: je {group}
taken: “{thing}” was taken to mean {group} | „{thing}“ wurde verstanden als {group}
without_words: leaving out {words} | ohne {words}
rows: row | Zeile
has: {column} has “{word}” | {column} enthält „{word}“
in_rows: rows: {count} | Zeilen: {count}
missing: no column or cell of the table is called {words}; its columns are {columns} |
  keine Spalte oder Zelle der Tabelle heißt {words}; ihre Spalten sind {columns}
unplaced: it is unclear what {words} belongs to | es ist unklar, wozu {words} gehört
no_rows: no row fits | keine Zeile passt
no_table: {source} has column names and no rows | {source} hat Spaltennamen und keine Zeilen
nearest: No answer was computed. The nearest rows of {source}{where}, {rows} of {all}: |
  Es wurde keine Antwort berechnet. Die nächsten Zeilen von {source}{where}, {rows} von {all}:
all_rows: No answer was computed. The rows of {source}, all {all}: |
  Es wurde keine Antwort berechnet. Die Zeilen von {source}, alle {all}:
nothing: the question names nothing to compute; there are {columns} |
  die Frage nennt nichts zu berechnen; vorhanden sind {columns}
more: and {count} more | und {count} weitere
ratio: computed as the sum of {a} divided by the sum of {b} |
  berechnet als Summe von {a} geteilt durch Summe von {b}
grouped: summed over the rows of each {group} | summiert über die Zeilen je {group}
and: and | und
or: or | oder
filled: is not empty | ist nicht leer
empty: is empty | ist leer
columns: columns {names} | Spalten {names}
"""
PHRASES: Final = read_phrases(_PHRASES)
"""The program's own words in an answer, by language."""


def describe_answer(profile: Profile, answered: Answered, language: str) -> dict[str, Any]:
    """Return the result of the tool: summary, gaps, whether all was read, columns and rows."""
    gaps = list(dict.fromkeys(_list_gaps(profile, answered, language)))
    parts = [part for name in profile.columns for part in split_name(name)]
    lacking = [
        word
        for word in answered.asked.list_lacking()
        if not any(is_same_word(word.lower(), part) for part in parts)
    ]
    told = {"is_complete": not gaps, "gaps": gaps, "left_open": lacking}
    told["left_out"] = answered.left_out
    if answered.is_missing or not answered.rows:
        return {**told, "summary": "", "is_complete": False}
    rows = answered.rows[:MAX_RESULTS]
    return {
        **told,
        "summary": _Description(profile, answered, language).write(),
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


def pad_decimals(rows: Sequence[list[str]], at: int, point: str) -> None:
    """Write the numbers of a column with as many decimals each, where none has more than two."""
    decimals = [row[at].partition(point)[2] for row in rows]
    most = max(map(len, decimals), default=0)
    if 0 < most <= MAX_PADDED and all(row[at][-1:].isdigit() for row in rows if row[at]):
        for row, own in ((row, own) for row, own in zip(rows, decimals, strict=True) if row[at]):
            row[at] += f"{'' if own else point}{'0' * (most - len(own))}"


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


def write_value(
    profile: Profile, column: str, value: Any, language: str, *, is_own: bool = True
) -> str:
    """Return a cell of a column: a year or code as it is, an amount of money with its cents."""
    if column in (*profile.time_columns, *profile.codes):
        return "" if value is None else write_cell(value)
    text, point = write_number(value, language, is_own=is_own), "," if language == "de" else "."
    has_dime = len(text.rpartition(point)[2]) == 1 and point in text
    return f"{text}{'0' * (has_dime and split_unit(column)[1].lower() in CURRENCIES)}"


def _list_gaps(profile: Profile, answered: Answered, language: str) -> list[str]:
    words = PHRASES.get(language, PHRASES["en"])
    if not profile.rows:
        return [words["no_table"].format(source=profile.table.source)]
    asked = answered.asked
    doubts = [each for each in asked.doubts if not (answered.is_missing and each.is_of_result)]
    gaps = [each.write(language) for each in doubts]
    gaps += _list_taken(asked.taken, words)
    if asked.is_guess:
        gaps.append(words["thing"].format(thing=asked.thing, group=words["rows"]))
    columns = ", ".join(profile.columns[:MAX_COLUMNS])
    held = {word for name in profile.columns for word in format_column(name).lower().split()}
    placed = [word for word in asked.unread if word.lower() in held]
    if placed:
        gaps.append(words["unplaced"].format(words=join_words(placed)))
    if unread := [word for word in asked.unread if word not in placed]:
        gaps.append(words["missing"].format(words=join_words(unread), columns=columns))
    elif answered.is_missing and not gaps:
        gaps.append(words["nothing"].format(columns=columns))
    elif not answered.rows and not answered.is_missing:
        gaps.append(words["no_rows"])
    return gaps


def _list_taken(taken: Sequence[tuple[str, str]], words: Mapping[str, str]) -> list[str]:
    return [words["taken"].format(thing=w, group=format_column(c)) for w, c in taken]


class _Description:
    def __init__(self, profile: Profile, answered: Answered, language: str) -> None:
        self._profile, self._answered, self._language = profile, answered, language
        self._asked, self._words = answered.asked, PHRASES.get(language, PHRASES["en"])
        self._conditions = self._describe(self._asked.conditions)
        values, asked = answered.columns[answered.labels :], answered.asked
        has_unit = not (asked.change or asked.is_share or asked.function in ("count", "distinct"))
        self._unit = split_unit(values[0])[1] if has_unit and len(values) == 1 else ""

    def write(self) -> str:
        """Return the sentence with the answer, the rows, and what they were computed from."""
        return "\n\n".join(filter(None, [self._state(), self._format_rows(), self._list_used()]))

    def _describe(self, conditions: Sequence[Any]) -> str:
        said = [replace(c, words=self._translate(c.words)) if c.part else c for c in conditions]
        text = describe_conditions(said, self._words["and"], self._words["or"])
        for key in ("filled", "empty"):
            text = text.replace(PHRASES["en"][key], self._words[key])
        return text

    def _translate(self, period: str) -> str:
        """Return words for periods in the language: month = February."""
        if self._language != "de":
            return period
        return " ".join(_GERMAN_PERIODS.get(word, word) for word in period.split(" "))

    def _number(self, value: Any, column: str) -> str:
        asked = self._asked
        is_own = asked.function == "value" and not (asked.change or asked.is_share)
        return write_value(self._profile, column, value, self._language, is_own=is_own)

    def _state(self) -> str:
        """Return the sentence with the answer; above rows in no order, what they are."""
        asked, rows, labels = self._asked, self._answered.rows, self._answered.labels
        what = self._name_value()
        is_ranked = bool(asked.order and labels and not asked.by_last)
        if is_ranked:
            order: str = asked.order
            if asked.measure in self._profile.time_columns:
                order = "first" if order == "lowest" else "last"
            what = self._words[order].format(what=what)
            what += self._words["in_row"] * asked.is_of_row
            rows = rows[: self._count_asked()]
        filtered = self._conditions and self._words["where"].format(conditions=self._conditions)
        is_table = len(rows) > 1 and not is_ranked
        if self._unit and not is_table:  # which the figure has
            what = what.replace(f" ({self._unit})", "")
        head = f"{what[:1].upper()}{what[1:]}{f' ({filtered})' if filtered else ''}"
        if is_table:
            return f"**{format_cell(head)}**"
        shown = [f"{self._name_row(row)}{self._write_values(row)}" for row in rows[:MAX_NAMED]]
        if asked.function == "distinct" and len(shown) == 1 and asked.conditions:
            used = write_number(self._answered.rows_used, self._language)
            shown[0] += f" ({self._words['in_rows'].format(count=used)})"
        left = len(rows) - MAX_NAMED
        more = f"; {self._words['more'].format(count=left)}" if left > 0 else ""
        said = f"{head}: {'; '.join(shown)}{more}."
        doubt = self._name_doubt()  # the figure itself says what it is not
        return f"{doubt[:1].upper()}{doubt[1:]}: {said.replace('**', '')}" if doubt else said

    def _name_doubt(self) -> str:
        """Return what was left out, else what decides the figure and was taken for granted."""
        asked, words = self._asked, self._words
        if asked.unread:
            return words["without_words"].format(words=join_words(asked.unread))
        if asked.is_guess:
            return words["thing"].format(thing=asked.thing, group=words["rows"])
        return "; ".join(_list_taken(asked.taken, words)) if asked.order else ""

    def _count_asked(self) -> int:
        """Return how many rows of a ranking are asked for, with all that share the first place."""
        rows, labels = self._answered.rows, self._answered.labels
        if self._asked.change:
            return self._asked.limit
        ties = [row for row in rows if row[labels] == rows[0][labels]]
        return max(self._asked.limit, len(ties))

    def _name_row(self, row: Sequence[Any]) -> str:
        named = [write_cell(cell) for cell in row[: self._answered.labels] if cell is not None]
        colon = ": " if self._answered.columns[self._answered.labels :] else ""
        return f"**{', '.join(map(format_cell, named))}**{colon}" if named else ""

    def _write_values(self, row: Sequence[Any]) -> str:
        labels, columns = self._answered.labels, self._answered.columns
        values = list(map(self._number, row[labels:], columns[labels:]))
        percent = self._words["percent"]
        if not values:
            return ""
        if self._asked.change:
            first, last, by, rate = values
            return f"{first} → {last}, {by} (**{rate} {percent}**)"
        if len(values) > 1:
            names = map(format_column, self._answered.columns[self._answered.labels :])
            pairs = zip(names, values, strict=True)
            return ", ".join(f"{name} {value}" for name, value in pairs if value)
        unit = percent if self._asked.is_share else self._unit
        return f"**{' '.join(filter(None, [values[0], unit]))}**"

    def _name_value(self) -> str:
        asked, words, labels = self._asked, self._words, self._answered.labels
        columns = self._answered.columns[labels:]
        if asked.function == "value" and not (asked.measure or {*columns} & {*asked.named}):
            columns = self._answered.columns[:labels]  # numbers that no word names head no list
        first, *others = columns
        if asked.change:
            return self._name_change(first, others[0])
        if asked.is_share:
            part = self._describe(asked.part) or asked.group or asked.bucket
            return words["share"].format(part=part)
        if asked.function == "count":
            return words["count"]
        for start in _COMPUTED:
            if first.startswith(f"{start} "):
                names = [each.removeprefix(start).strip() for each in (first, *others)]
                return f"{words[start]} {', '.join(map(format_column, names))}"
        return ", ".join(map(format_column, [first, *others]))

    def _name_change(self, first: str, last: str) -> str:
        """Return what changed; of one column in two periods it is named once."""
        words, (column, _, begin) = self._words, first.rpartition(" ")
        same, _, end = last.rpartition(" ")
        if column and column == same:
            what = format_column(column)
            return words["change_of"].format(what=what, first=begin, last=end)
        return words["change"].format(first=format_column(first), last=format_column(last))

    def _format_rows(self) -> str:
        answered = self._answered
        if len(answered.rows) < 2:
            return ""
        most = MAX_ROWS if self._asked.order else MAX_RESULTS
        most = self._count_asked() if self._asked.limit > 1 else most
        rows = [
            [
                ("" if cell is None else write_cell(cell)) if at < answered.labels else number
                for at, (cell, number) in enumerate(
                    zip(row, map(self._number, row, answered.columns), strict=True)
                )
            ]
            for row in answered.rows[:most]
        ]
        for at in range(answered.labels, len(answered.columns)):
            pad_decimals(rows, at, self._words["point"])
        left = len(answered.rows) - most
        more = f"\n\n({self._words['more'].format(count=left)})" if left > 0 else ""
        return format_table(list(map(self._head, answered.columns)), rows) + more

    def _head(self, column: str) -> str:
        """Return a column's name as a head, with what was computed in the language."""
        if self._language != "de" or column in BUCKETS.values():
            return self._translate(format_column(column))
        start = next((each for each in _COMPUTED if column.startswith(f"{each} ")), "")
        said = self._words[start or "count"]
        name = format_column(column.removeprefix(start).strip())
        return f"{said} {name}" if start else said if column == "count" else name

    def _list_used(self) -> str:
        """Return the line that names table, columns, rows and what was left out."""
        asked, words, profile = self._asked, self._words, self._profile
        named = [*asked.measures, *asked.others, *asked.listed]
        named += [asked.divisor, asked.second, asked.group]
        conditions = [*asked.conditions, *asked.part]
        named += [each.column for each in conditions if not each.part]
        time = profile.times.write_bucket(asked.bucket) if asked.bucket else ""
        used = [time, *(sql for sql, _ in asked.ends), *(each.sql for each in conditions)]
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
        bucket = self._translate(asked.bucket)
        group = f" {words['and']} ".join(filter(None, [asked.group, bucket]))
        left_out = self._answered.left_out
        taken = asked.thing_column or words["rows"]
        optional = {
            "where": self._conditions,
            "ratio": asked.divisor,
            "grouped": group if asked.function == "sum" and not asked.divisor else "",
            f"without{'_group' * (asked.group in profile.partly_empty)}": (
                write_number(left_out, self._language) if left_out else ""
            ),
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
        said += _list_taken([*asked.taken, *asked.meant], words)
        return f"{'; '.join(said)}."
