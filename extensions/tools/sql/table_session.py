"""The tables of one call: their statements, their columns, and the notes on how they were read."""

from collections.abc import Sequence
from typing import Any, Final

from extensions.tools.sql.child_program import Statements
from extensions.tools.sql.location import Engine
from extensions.tools.sql.table_columns import AnalysedTable, describe_table, sample_columns
from nodes.errors import ToolRefused

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
