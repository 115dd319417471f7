"""The line that raised, with what is known around it."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from nodes.tools.incident.origins import Place, settings_behind
from nodes.tools.incident.sources import Source
from nodes.tools.incident.traces import Frame, Trace
from nodes.tools.plain_text import plain_line

MAX_CODE_CHARS = 120


@dataclass(frozen=True)
class Scene:
    """The failing line, with what is known around it."""

    trace: Trace
    frame: Frame
    source: Source
    sources: Sequence[Source]
    statement: ast.stmt
    place: Place

    @property
    def where(self) -> str:
        """Name the place as file and line."""
        return f"{self.source.name}:{self.frame.line}"

    @property
    def code(self) -> str:
        """Quote the failing line."""
        return plain_line(self.source.line(self.frame.line), MAX_CODE_CHARS)

    def settings(self, node: ast.AST) -> tuple[str, ...]:
        """Name the settings behind a part of the statement."""
        return tuple(settings_behind(node, self.place, self.sources))

    def all(self, *kinds: type[ast.AST]) -> list[ast.AST]:
        """Give the parts of the statement's head that are of some kinds."""
        return [
            node
            for part in head(self.statement)
            for node in ast.walk(part)
            if isinstance(node, kinds)
        ]


def head(statement: ast.stmt) -> list[ast.AST]:
    """Give the parts of a statement, the body of a compound one left out."""
    bodies = {"body", "orelse", "finalbody", "handlers", "cases"}
    return [
        part
        for name, value in ast.iter_fields(statement)
        if name not in bodies
        for part in (value if isinstance(value, list) else [value])
        if isinstance(part, ast.AST)
    ]
