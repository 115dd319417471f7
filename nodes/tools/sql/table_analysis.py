"""Ranks, filters, sums and compares the rows of one table, by typed arguments, in SQL.

The statement is portable: SQLite, DuckDB and PostgreSQL run it. Runs in the child process.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.text.table_defects import COUNTED, DOUBLES, LEFT_OUT, UNUSED
from nodes.tools.sql.child_program import run_statement
from nodes.tools.sql.computed_digits import PERCENT, QUOTIENT, SUM, Digits, add_growth, round_apart
from nodes.tools.sql.location import Engine
from nodes.tools.sql.table_columns import (
    SAMPLE_ROWS,
    AnalysedTable,
    Query,
    describe_table,
    find_compared,
    quote_name,
    rank_tables,
    sample_columns,
    write_literal,
)
from nodes.tools.sql.table_question import Question
from nodes.tools.sql.tables import format_row

_FUNCTIONS: Final[Mapping[str, str]] = {
    "sum": "SUM",
    "average": "AVG",
    "minimum": "MIN",
    "maximum": "MAX",
}
MAX_LABELS: Final = 4
MAX_MEASURES: Final = 3
MAX_TRIED_TABLES: Final = 10


def analyze_table(
    engine: Engine,
    target: str,
    materials: dict[str, str],
    statement_s: float,
    table: str,
    question: dict[str, Any],
) -> dict[str, Any]:
    """Return the computed rows, as `run_statement` does; without a question, the tables.

    Raises:
        ToolRefused: there is no such table or column, or no row holds what is asked for.
    """
    asked, notes, sampled_notes = Question(**question), list[str](), list[str]()

    def query(sql: str, kept: list[str] = notes) -> dict[str, Any]:
        answer = run_statement(engine, target, materials, sql, statement_s)
        if "error" in answer:
            raise ToolRefused(str(answer["error"]))
        kept.extend(gap for gap in answer.get("gaps", ()) if gap not in kept)
        return answer

    def sample(table: AnalysedTable) -> AnalysedTable:
        return sample_columns(table, lambda sql: query(sql, sampled_notes), engine)

    listed = query("")["tables"]
    tables = [AnalysedTable(each["table"], each["source"], each["columns"]) for each in listed]
    if notes and not tables:
        raise ToolRefused("; ".join(notes))
    is_computed = asked.aggregate != "none" or asked.change != "none"
    if asked.names_nothing and not (is_computed and (table or len(tables) == 1)):
        sampled = [sample(each) for each in tables[:20]]
        marred = [f"{each.source}: {said}" for each in sampled for said in each.marred.values()]
        gaps = [*notes, *sampled_notes, *marred]
        return {"tables": list(map(describe_table, sampled)), **({"gaps": gaps} if gaps else {})}
    refusals = []
    for each in rank_tables(tables, table, (*asked.measures, asked.group_by))[:MAX_TRIED_TABLES]:
        try:
            return _compute(_Analysis(sample(each), asked, query), asked, notes)
        except ToolRefused as refusal:
            refusals.append(refusal)  # another table may hold the rows
    named = [each for each in sampled_notes if any(f" {name}:" in each for name in asked.measures)]
    raise ToolRefused("; ".join([str(refusals[0]), *notes, *named]))


def _compute(analysis: "_Analysis", asked: Question, notes: Sequence[str]) -> dict[str, Any]:
    """Return the computed rows with what a user should know of them as gaps."""
    found = analysis.compute()
    gaps = [*found.get("gaps", ()), *notes, *analysis.list_omitted_cells(notes)]
    if asked.doubles == "drop":
        gaps = [gap.replace(COUNTED, LEFT_OUT) if DOUBLES in gap else gap for gap in gaps]
    return found | ({"gaps": gaps} if gaps else {})


class _Analysis:
    """One question to one table."""

    def __init__(self, table: AnalysedTable, asked: Question, query: Query) -> None:
        self._table, self._asked, self._query = table, asked, query
        self._measures = [self._find_column(name, table.columns) for name in asked.measures]
        if not self._measures and (asked.aggregate not in ("none", "count") or self._is_growth):
            self._measures = table.numbers[:MAX_MEASURES]
        self._divisor = ""
        if asked.divide_by:
            self._divisor = self._find_column(asked.divide_by, table.numbers)
            others = [name for name in self._measures if name != self._divisor]
            self._divisor, self._measures = (
                (self._divisor, others) if others else ("", [self._divisor])
            )
        self._group = self._find_column(asked.group_by, table.columns) if asked.group_by else ""
        for name in self._measures:
            if name not in table.numbers and asked.aggregate != "count":
                known = ", ".join(table.numbers) or "none"
                why = table.marred.get(name) or f"column {name!r} holds no numbers"
                raise ToolRefused(f"{why}; columns that hold numbers: {known}")
        self._conditions, self._unmatched = self._find_conditions()

    def list_omitted_cells(self, notes: Sequence[str]) -> list[str]:
        """Return a sentence for each computed column of which cells were left out.

        Args:
            notes: what is known already; a file was searched when it was read.
        """
        used = filter(None, [*self._measures, self._divisor])
        omitted = [(f"{self._table.source}: {name}: ", *self._count_others(name)) for name in used]
        return [
            f"{start}no number in {format_count(count, 'cell')} {UNUSED}: {held}"
            for start, count, held in omitted
            if count and not any(note.startswith(start) for note in notes)
        ]

    def _count_others(self, name: str) -> tuple[int, str]:
        """Return how many cells of a column of numbers hold something else, and the first."""
        if name not in self._table.readings:
            return 0, ""
        cell = quote_name(name)
        others = [f"{cell} IS NOT NULL", f"{self._table.read(name)} IS NULL"]
        count = self._run(self._write(["COUNT(*)"], also=others))[1][0][0]
        held = self._run(self._write([cell], also=others, limit=3))[1] if count else []
        return count, ", ".join(f"{str(row[0])!r:.40}" for row in held)

    def compute(self) -> dict[str, Any]:
        """Return columns, rows and their source, and what was computed in words."""
        if self._compares_periods:
            columns, rows = self._compare_periods()
        elif self._is_growth:
            columns, rows = self._compare_columns()
        elif self._is_grouped:
            columns, rows = self._run(self._write_grouped())
            if self._is_count and self._group:
                rows = [*self._run(self._write_totals())[1], *rows]
        else:
            columns, rows = self._run(self._write_listing())
        most = self._asked.limit
        cut = f"only the first {format_count(most, 'row')}" if len(rows) > most else ""
        rows = self._round_computed(columns, rows[:most])
        gaps = [f"No row of {self._table.source} holds {name!r}." for name in self._unmatched]
        return {
            "columns": columns,
            "rows": rows,
            "results": [
                {"source": self._table.source, "text": format_row(columns, row)} for row in rows
            ],
            **self._describe_rows(),
            **({"gaps": gaps} if gaps else {}),
            **({"cut": cut} if cut else {}),
        }

    def _round_computed(
        self, columns: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> list[list[Any]]:
        """Return the rows with their computed values rounded, and the table's own as they are."""
        cells = list(zip(*rows, strict=True))
        for place, name in enumerate(columns if rows else ()):
            if digits := self._choose_digits(place, name):
                cells[place] = tuple(round_apart(cells[place], digits))
        return [list(row) for row in zip(*cells, strict=True)]

    def _choose_digits(self, place: int, column: str) -> Digits | None:
        """Return the digits of a column of the result; None if its values are the table's own."""
        if self._is_growth and column.startswith("growth ") and column.endswith(" in percent"):
            return PERCENT
        if self._is_growth or not self._is_grouped:
            return SUM if self._compares_periods else None
        if place < bool(self._group) or self._asked.aggregate in ("minimum", "maximum"):
            return None
        return QUOTIENT if self._divisor or self._asked.aggregate == "average" else SUM

    def _describe_rows(self) -> dict[str, str]:
        """Return in words how many rows were computed on, and of which periods."""
        is_yearly = self._is_growth and self._asked.period == "year" and bool(self._table.times)
        if not (is_yearly or (self._is_grouped and not self._is_growth)):
            return {}
        time = next(iter(self._table.times), "")
        ends = [f"MIN({quote_name(time)})", f"MAX({quote_name(time)})"] if time else []
        used = self._measures if len(self._measures) == 1 else []
        also = [f"{self._table.read(name)} IS NOT NULL" for name in used]
        count, *periods = self._run(self._write(["COUNT(*)", *ends], also=also))[1][0]
        described = format_count(count, "row")
        if periods and periods[0] is not None:
            first, last = (str(each) for each in periods)
            described += f", {time} {first}" + (f" to {last}" if last != first else "")
        return {"computed_over": described}

    @property
    def _is_grouped(self) -> bool:
        is_computed = self._asked.aggregate != "none" or bool(self._divisor)
        # Over several periods a sum may mean nothing: stocks are not added, as sales are.
        may_sum = self._measures and not self._table.times
        return is_computed or bool(may_sum and self._has_repeated_groups)

    @cached_property
    def _has_repeated_groups(self) -> bool:
        """Whether a value of the grouping column is in several rows, which are then summed."""
        if not self._group:
            return False
        rows, values = self._run(
            self._write(
                [f"COUNT({quote_name(self._group)})", f"COUNT(DISTINCT {quote_name(self._group)})"]
            )
        )[1][0]
        return bool(rows > values)

    @property
    def _is_growth(self) -> bool:
        return self._asked.change == "growth"

    @property
    def _compares_periods(self) -> bool:
        return self._is_growth and bool(self._table.times or self._asked.time_column)

    @property
    def _is_count(self) -> bool:
        return self._asked.aggregate == "count" and not self._measures

    def _write_grouped(self) -> str:
        function = _FUNCTIONS.get(self._asked.aggregate, "SUM")
        group = [quote_name(self._group)] if self._group else []
        if self._is_count:
            values = ['COUNT(*) AS "count"']
        else:
            values = [
                f"{function}({self._table.read(name)}) "
                f"AS {quote_name(f'{function.lower()} of {name}')}"
                for name in self._measures
            ]
        if self._divisor:
            ratios = (f"{name} per {self._divisor}" for name in self._measures)
            values = [
                f"1.0 * SUM({self._table.read(name)}) "
                f"/ NULLIF(SUM({self._table.read(self._divisor)}), 0) "
                f"AS {quote_name(ratio)}"
                for name, ratio in zip(self._measures, ratios, strict=True)
            ]
        if not values:
            raise ToolRefused(f"name the column to compute the {self._asked.aggregate} of")
        return self._write(group + values, group_by=group, sort=len(group) + 1)

    def _write_totals(self) -> str:
        name = quote_name(self._group)
        shown = f"CAST(COUNT(DISTINCT {name}) AS VARCHAR(40)) || ' different values'"
        return self._write([shown, "COUNT(*)"])

    def _write_listing(self) -> str:
        labels = [*filter(None, [self._group]), *self._table.labels][:MAX_LABELS]
        shown = [*labels, *self._table.times, *self._measures]
        shown = list(dict.fromkeys(shown)) if self._measures else self._table.columns
        sort = shown.index(self._measures[0]) + 1 if self._measures else 0
        missing = [f"{self._table.read(name)} IS NOT NULL" for name in self._measures[:1]]
        return self._write(list(map(self._show, shown)), sort=sort, also=missing)

    def _show(self, name: str) -> str:
        """Return SQL for a column under its own name: the number in it, if it is a measure."""
        is_measure = name in self._measures and name in self._table.readings
        return f"{self._table.read(name)} AS {quote_name(name)}" if is_measure else quote_name(name)

    def _write(
        self,
        shown: Sequence[str],
        *,
        group_by: Sequence[str] = (),
        sort: int = 0,
        also: Sequence[str] = (),
        limit: int | None = None,
    ) -> str:
        conditions = [*self._conditions, *also]
        table = quote_name(self._table.name)
        if self._asked.doubles == "drop":
            table = f"(SELECT DISTINCT * FROM {table}) AS {table}"
        parts = [f"SELECT {', '.join(shown)} FROM {table}"]
        if conditions:
            parts.append("WHERE " + " AND ".join(conditions))
        if group_by:
            parts.append("GROUP BY " + ", ".join(group_by))
        if sort:
            parts.append(f"ORDER BY {sort} {'DESC' if self._asked.order == 'highest' else 'ASC'}")
        return " ".join([*parts, f"LIMIT {limit or self._asked.limit + 1}"])

    def _compare_periods(self) -> tuple[list[str], list[list[Any]]]:
        """Return each group's values of the first and the last period, and their growth."""
        if not self._measures:
            raise ToolRefused("the table has no column of numbers")
        time = self._choose_time_column()
        period = self._write_period(time)
        listed = f"SELECT DISTINCT {period} FROM {quote_name(self._table.name)}"
        where = f" WHERE {' AND '.join(self._conditions)}" if self._conditions else ""
        periods = sorted(row[0] for row in self._run(listed + where)[1] if row[0] is not None)
        if len(periods) < 2:
            raise ToolRefused(f"column {time!r} holds one period only; growth needs two")
        first, last = periods[0], periods[-1]
        group = self._group or next(iter(self._table.labels), "")
        groups = [group] if group else []
        measures = self._measures[:MAX_MEASURES]
        sums = [
            f"SUM(CASE WHEN {period} = {write_literal(each)} THEN {self._table.read(measure)} END)"
            for measure in measures
            for each in (first, last)
        ]
        shown = [*map(quote_name, groups), *sums]
        sql = self._write(shown, group_by=shown[: len(groups)], limit=SAMPLE_ROWS)
        named = list(groups)
        for measure in measures:
            of = f" of {measure}" if len(measures) > 1 else ""
            named += [f"{measure} {first}", f"{measure} {last}", f"growth{of} in percent"]
        rows = [add_growth(row, len(groups)) for row in self._run(sql)[1]]
        return named, self._rank(rows, len(groups) + 2)

    def _write_period(self, time: str) -> str:
        if self._asked.period == "year":
            return f"SUBSTR(CAST({quote_name(time)} AS VARCHAR(40)), 1, 4)"
        return quote_name(time)

    def _compare_columns(self) -> tuple[list[str], list[list[Any]]]:
        """Return each row's first and last measure, by name, and the growth between them."""
        compared = find_compared(self._measures, self._table.numbers)
        if not compared:
            raise ToolRefused(
                "the table has no column of years, quarters, months or dates; name two columns of "
                "numbers to compare"
            )
        first, last = compared
        labels = [*filter(None, [self._group]), *self._table.labels][:MAX_LABELS]
        labels = list(dict.fromkeys(labels))
        values = [f"{self._table.read(name)} AS {quote_name(name)}" for name in (first, last)]
        sql = self._write([*map(quote_name, labels), *values], limit=SAMPLE_ROWS)
        rows = [add_growth(row, len(labels)) for row in self._run(sql)[1]]
        return [*labels, first, last, "growth in percent"], self._rank(rows, len(labels) + 2)

    def _choose_time_column(self) -> str:
        if self._asked.time_column:
            return self._find_column(self._asked.time_column, self._table.columns)
        return self._table.times[0]

    def _rank(self, rows: list[list[Any]], growth: int) -> list[list[Any]]:
        """Return the rows that have a growth at that place, ranked by it or by the last value."""
        kept = [row for row in rows if row[growth] is not None]
        kept.sort(
            key=lambda row: row[growth if self._asked.sort_by == "fastest" else growth - 1],
            reverse=self._asked.order == "highest",
        )
        return kept

    def _find_conditions(self) -> tuple[list[str], list[str]]:
        """Return a condition for each column that holds asked values, and the values in none."""
        searched = [*self._table.labels, *self._table.times]
        found: dict[str, list[str]] = {}
        unmatched = []
        for value in self._asked.rows_with:
            condition = next(
                filter(None, (self._match_value(each, value) for each in searched)), None
            )
            if condition:
                found.setdefault(condition[0], []).append(condition[1])
            else:
                unmatched.append(value)
        if unmatched and not found:
            known = ", ".join(searched)
            raise ToolRefused(f"no row holds {', '.join(map(repr, unmatched))} in {known}")
        return [f"({' OR '.join(each)})" for each in found.values()], unmatched

    def _match_value(self, column: str, value: str) -> tuple[str, str] | None:
        text = f"LOWER(CAST({quote_name(column)} AS VARCHAR(400)))"
        exact = f"{text} = {write_literal(value.lower())}"
        begins = f"{text} LIKE {write_literal(value.lower() + '%')}"
        for condition in (exact, begins) if column in self._table.times else (exact,):
            sql = f"SELECT COUNT(*) FROM {quote_name(self._table.name)} WHERE {condition}"
            if self._run(sql)[1][0][0]:
                return column, condition
        return None

    def _find_column(self, name: str, columns: Sequence[str]) -> str:
        plain = name.strip().lower()
        for column in columns:
            if column.lower() == plain:
                return column
        raise ToolRefused(f"no column is named {name!r}; columns: {', '.join(columns)}")

    def _run(self, sql: str) -> tuple[list[str], list[list[Any]]]:
        answer = self._query(sql)
        return answer["columns"], answer["rows"]
