"""The line that raised, with what is known around it."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from nodes.text.plain_text import sanitize_line
from nodes.tools.incident.sources import SourceFile
from nodes.tools.incident.traces import ExceptionTrace, TraceFrame
from nodes.tools.incident.value_origins import CodeLocation, find_settings

MAX_CODE_CHARS = 120


@dataclass(frozen=True)
class FailureSite:
    """The failing line, with what is known around it."""

    trace: ExceptionTrace
    frame: TraceFrame
    source: SourceFile
    sources: Sequence[SourceFile]
    statement: ast.stmt
    location: CodeLocation

    @property
    def file_and_line(self) -> str:
        """Name the place as file and line."""
        return f"{self.source.name}:{self.frame.line}"

    @property
    def code_line(self) -> str:
        """Quote the failing line."""
        return sanitize_line(self.source.get_line(self.frame.line), MAX_CODE_CHARS)

    def list_settings(self, node: ast.AST) -> tuple[str, ...]:
        """Name the settings behind a part of the statement."""
        return tuple(find_settings(node, self.location, self.sources))

    def find_nodes(self, *kinds: type[ast.AST]) -> list[ast.AST]:
        """Return the parts of the statement's head that are of some kinds."""
        return [
            node
            for part in list_head_nodes(self.statement)
            for node in ast.walk(part)
            if isinstance(node, kinds)
        ]


def list_head_nodes(statement: ast.stmt) -> list[ast.AST]:
    """Return the parts of a statement, the body of a compound one left out."""
    bodies = {"body", "orelse", "finalbody", "handlers", "cases"}
    return [
        part
        for name, value in ast.iter_fields(statement)
        if name not in bodies
        for part in (value if isinstance(value, list) else [value])
        if isinstance(part, ast.AST)
    ]
