"""The line that raised, with its context."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from nodes.text.plain_text import sanitize_line
from nodes.tools.logs.failure import Failure

from .sources import SourceFile
from .value_origins import CodeLocation, find_settings

MAX_CODE_CHARS = 120


@dataclass(frozen=True)
class FailureSite:
    """The failing line, with its context."""

    trace: Failure
    line: int
    source: SourceFile
    sources: Sequence[SourceFile]
    statement: ast.stmt
    location: CodeLocation

    @property
    def file_and_line(self) -> str:
        """Return the place as file and line."""
        return f"{self.source.name}:{self.line}"

    @property
    def code_line(self) -> str:
        """Return the failing line."""
        return sanitize_line(self.source.get_line(self.line), MAX_CODE_CHARS)

    def list_settings(self, node: ast.AST) -> tuple[str, ...]:
        """Return the settings that a part of the statement reads."""
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
    """Return the parts of a statement, without the body of a compound one."""
    bodies = {"body", "orelse", "finalbody", "handlers", "cases"}
    return [
        part
        for name, value in ast.iter_fields(statement)
        if name not in bodies
        for part in (value if isinstance(value, list) else [value])
        if isinstance(part, ast.AST)
    ]
