"""What loading the tables of files found, besides the tables."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from extensions.tools.sql.table_defects import TableNote
from extensions.tools.sql.tables import mentions
from nodes.limits.patterns import Pattern

_ALL_COLUMNS: Final = Pattern(r"(?:SELECT|DISTINCT|,)\s*(?:\w+\.)?\*", re.IGNORECASE)


@dataclass
class LoadedTables:
    """By the name of each table."""

    broken: dict[str, Exception] = field(default_factory=dict)
    """Why it cannot be read; a file that is no table hides no other."""
    notes: dict[str, list[TableNote]] = field(default_factory=dict)
    """What a user should know of how it was read, and what is unusual in it."""

    def add_notes(self, table: str, source: str, notes: Iterable[TableNote]) -> None:
        """Add what a user should know of a table, under the name of its file."""
        self.notes[table] = [TableNote(f"{source}: {text}", column) for text, column in notes]

    def list_notes(self, sql: str) -> list[str]:
        """Return what a user should know of the tables and columns that a statement names."""
        takes_all = _ALL_COLUMNS.search(sql) is not None
        return [
            note.text
            for table, notes in self.notes.items()
            if mentions(sql, table)
            for note in notes
            if not note.column or takes_all or mentions(sql, note.column)
        ]
