"""Computes what arguments or words ask of tables, by one engine. Runs in the child process."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Final

from extensions.tools.sql.child_program import Statements
from extensions.tools.sql.location import Engine
from extensions.tools.sql.table_arguments import Question, read_arguments
from extensions.tools.sql.table_columns import (
    AnalysedTable,
    Query,
    describe_table,
    rank_tables,
    sample_columns,
)
from extensions.tools.sql.table_computation import Computation
from extensions.tools.sql.table_profile import build_plain_profile
from extensions.tools.sql.table_question import answer_question
from extensions.tools.sql.table_rows import show_used
from extensions.tools.sql.tables import format_row, quote_name
from extensions.tools.sql.whole_table import COUNTED, DOUBLES, LEFT_OUT, UNUSED
from extensions.tools.tables.reading import Reading
from nodes.errors import ToolRefused
from nodes.text.counts import format_count

MAX_TABLES: Final = 20


class TableSession:
    """Runs statements and keeps what a user should know of the tables that they name."""

    def __init__(self, statements: Statements, engine: Engine) -> None:
        self._statements, self._engine = statements, engine
        self.notes: list[str] = []
        """On what statements have named."""
        self.sampled_notes: list[str] = []
        """On what was only looked at."""

    def query(self, sql: str) -> dict[str, Any]:
        """Return a statement's answer.

        Raises:
            ToolRefused: it fails.
        """
        return self._run(sql, self.notes)

    def list_tables(self) -> list[AnalysedTable]:
        """Return the tables, of which nothing but the columns is known.

        Raises:
            ToolRefused: there is none, and a file is no table.
        """
        listed = self.query("")["tables"]
        tables = [AnalysedTable(each["table"], each["source"], each["columns"]) for each in listed]
        if self.notes and not tables:
            raise ToolRefused("; ".join(self.notes))
        return tables

    def sample(self, table: AnalysedTable) -> AnalysedTable:
        """Return the table with what its columns hold.

        Raises:
            ToolRefused: it cannot be read.
        """
        return sample_columns(table, lambda sql: self._run(sql, self.sampled_notes), self._engine)

    def sample_readable(self, tables: Sequence[AnalysedTable]) -> list[AnalysedTable]:
        """Return the first tables with what their columns hold, without unreadable ones.

        Raises:
            ToolRefused: none can be read.
        """
        sampled, refusals = list[AnalysedTable](), list[str]()
        for each in tables[:MAX_TABLES]:
            try:
                sampled.append(self.sample(each))
            except ToolRefused as refusal:
                refusals.append(str(refusal))
        if refusals and not sampled:
            raise ToolRefused(refusals[0])
        self.notes += refusals
        return sampled

    def describe_tables(self, tables: Sequence[AnalysedTable]) -> dict[str, Any]:
        """Return the tables with their columns, and what is wrong with them as gaps."""
        sampled = [self.sample(each) for each in tables[:MAX_TABLES]]
        marred = [f"{each.source}: {said}" for each in sampled for said in each.marred.values()]
        gaps = [*self.notes, *self.sampled_notes, *marred]
        return {"tables": list(map(describe_table, sampled)), **({"gaps": gaps} if gaps else {})}

    def _run(self, sql: str, notes: list[str]) -> dict[str, Any]:
        answer = self._statements.run(sql)
        if "error" in answer:
            raise ToolRefused(str(answer["error"]))
        notes += [gap for gap in answer.get("gaps", ()) if gap not in notes]
        return answer


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
    with ExitStack() as opened:
        statements = Statements(engine, target, materials, statement_s, opened)
        return _analyze(TableSession(statements, engine), table, Question(**question))


def _analyze(session: TableSession, table: str, asked: Question) -> dict[str, Any]:
    tables = session.list_tables()
    is_computed = asked.aggregate != "none" or asked.change != "none"
    names_all = asked.names_nothing and not (is_computed and (table or len(tables) == 1))
    if names_all and not asked.is_read:
        return session.describe_tables(tables)
    ranked = rank_tables(tables, table, (*asked.measures, asked.group_by))
    if asked.is_read:
        return answer_question(session.sample_readable(ranked), asked, session.query, session.notes)
    refusals = []
    for each in ranked[:MAX_TRIED_TABLES]:
        try:
            return _compute(session.sample(each), asked, session.query, session.notes)
        except ToolRefused as refusal:
            refusals.append(refusal)  # another table may hold the rows
    named = [
        each
        for each in session.sampled_notes
        if any(f" {name}:" in each for name in asked.measures)
    ]
    raise ToolRefused("; ".join([str(refusals[0]), *session.notes, *named]))


def _compute(
    table: AnalysedTable, asked: Question, query: Query, notes: Sequence[str]
) -> dict[str, Any]:
    """Return the computed rows with what a user should know of them as gaps."""
    profile, reading = build_plain_profile(table, drops_doubles=asked.doubles == "drop"), Reading()
    gaps = read_arguments(reading, profile, asked, query)
    computation = Computation(profile, reading, query)
    found, most = computation.compute(), asked.limit
    gaps += [*notes, *_list_omitted_cells(computation, notes)]
    if asked.doubles == "drop":
        gaps = [gap.replace(COUNTED, LEFT_OUT) if DOUBLES in gap else gap for gap in gaps]
    rows, over = found.rows[:most], _describe_rows(computation, asked)
    answer = {
        "columns": found.columns,
        "rows": rows,
        "results": [
            {"source": table.source, "text": format_row(found.columns, row)} for row in rows
        ],
        "computed_over": over,
        "gaps": gaps,
        "cut": f"only the first {format_count(most, 'row')}" if len(found.rows) > most else "",
    }
    always = ("columns", "rows", "results")
    shown = {name: value for name, value in answer.items() if value or name in always}
    return {**shown, **show_used(computation, found)}


def _list_omitted_cells(computation: Computation, notes: Sequence[str]) -> list[str]:
    """Return a sentence for each computed column of which cells were left out.

    Args:
        notes: what is known already; a file was searched when it was read.
    """
    reading, profile, said = computation.asked, computation.profile, list[str]()
    for name in filter(None, [*reading.measures, reading.divisor, reading.second]):
        start, cell = f"{profile.table.source}: {name}: ", quote_name(name)
        if name in profile.table.readings and not any(note.startswith(start) for note in notes):
            others = [f"{cell} IS NOT NULL", f"{profile.read(name)} IS NULL"]
            if count := computation.select_fitting("COUNT(*)", others)[0][0]:
                held = computation.select_fitting(cell, others)[:3]
                shown = ", ".join(f"{str(row[0])!r:.40}" for row in held)
                said.append(f"{start}no number in {format_count(count, 'cell')} {UNUSED}: {shown}")
    return said


def _describe_rows(computation: Computation, asked: Question) -> str:
    """Return in words how many rows were computed on, and of which periods."""
    reading, time = computation.asked, next(iter(computation.profile.table.times), "")
    if reading.function == "value" and not (reading.change and time and asked.period == "year"):
        return ""
    used = [*reading.measures, reading.divisor] if len(reading.measures) == 1 else []
    filled = [f"{computation.profile.read(name)} IS NOT NULL" for name in used if name]
    ends = f", MIN({quote_name(time)}), MAX({quote_name(time)})" if time else ""
    count, *periods = computation.select_fitting(f"COUNT(*){ends}", filled)[0]
    described = format_count(count, "row")
    if periods and periods[0] is not None:
        first, last = map(str, periods)
        described += f", {time} {first}" + (f" to {last}" if last != first else "")
    return described
