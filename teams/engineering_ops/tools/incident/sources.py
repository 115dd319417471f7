"""The available source files: those among the materials, and those of a git repository."""

import ast
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import PurePosixPath

from nodes.tools.framework.tool_report import join_names

from .material_types import PYTHON_SUFFIXES, detect_kind

MAX_FILE_BYTES = 400_000
MAX_TOTAL_BYTES = 20_000_000
MAX_FILES = 2_000
DefinitionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SourceFile:
    """A source file."""

    name: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """Return its lines."""
        return self.text.splitlines()

    @property
    def is_python(self) -> bool:
        """Return whether its syntax is read."""
        return self.name.lower().endswith(PYTHON_SUFFIXES)

    @cached_property
    def tree(self) -> ast.Module | None:
        """Return its syntax tree; None if it is not Python that this version can parse."""
        if not self.is_python:
            return None
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def definitions(self) -> list[tuple[str, DefinitionNode]]:
        """Return its functions and classes with their qualified names."""
        return list(_list_definitions(self.tree, "")) if self.tree else []

    def get_line(self, number: int) -> str:
        """Return a line by its number from 1; empty if there is none."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""


def _list_definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, DefinitionNode]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DefinitionNode):
            name = f"{prefix}{child.name}"
            yield name, child
            yield from _list_definitions(child, f"{name}.")
        else:
            yield from _list_definitions(child, prefix)


def load_sources(
    materials: Mapping[str, str], repository: str
) -> tuple[list[SourceFile], list[str]]:
    """Return the code among the materials, then that of the newest commit; and gaps."""
    given = [SourceFile(n, t) for n, t in materials.items() if detect_kind(n, t) == "code"]
    if not repository:
        return given, _describe_unparsed(given)
    stored, gaps = _read_repository(repository)
    known = [source.name for source in given]
    stored = [one for one in stored if not any(is_same_file(one.name, name) for name in known)]
    return [*given, *stored], [*_describe_unparsed(given), *gaps]


def _describe_unparsed(sources: list[SourceFile]) -> list[str]:
    broken = [source.name for source in sources if source.is_python and source.tree is None]
    return [f"{name} cannot be parsed as Python; it was only searched." for name in broken]


def _read_repository(root: str) -> tuple[list[SourceFile], list[str]]:
    # The git program is not run, so that a repository's configuration cannot run anything.
    from dulwich.errors import NotGitRepository
    from dulwich.object_store import iter_tree_contents
    from dulwich.objects import Blob, Commit
    from dulwich.repo import Repo

    try:
        with Repo(root) as repository:
            head = repository[repository.head()]
            if not isinstance(head, Commit):
                return [], ["The repository's newest commit cannot be read."]
            found, large, size = list[SourceFile](), list[str](), 0
            for entry in iter_tree_contents(repository.object_store, head.tree):
                name = os.fsdecode(entry.path or b"")
                if detect_kind(name) != "code":
                    continue
                blob = repository.object_store[entry.sha] if entry.sha else None
                if not isinstance(blob, Blob):
                    continue
                if len(blob.data) > MAX_FILE_BYTES:
                    large.append(name)
                    continue
                size += len(blob.data)
                if len(found) >= MAX_FILES or size > MAX_TOTAL_BYTES:
                    return found, ["The repository is large; only a part of it was read."]
                found.append(SourceFile(name, blob.data.decode("utf-8", "replace")))
            most = f"{MAX_FILE_BYTES // 1000} kB"
            return found, [f"Not read, with more than {most}: {join_names(large)}."] * bool(large)
    except (NotGitRepository, KeyError, OSError):
        return [], ["The repository (SUPERVISE_REPOSITORY) has no commit that can be read."]


def is_same_file(first: str, second: str) -> bool:
    """Return whether the shorter of two paths is the end of the longer."""
    shorter = min(len(PurePosixPath(first).parts), len(PurePosixPath(second).parts))
    return count_shared_parts(first, second) == shorter > 0


def count_shared_parts(first: str, second: str) -> int:
    """Return how many parts two paths share at their ends."""
    ends = zip(
        reversed(PurePosixPath(first).parts), reversed(PurePosixPath(second).parts), strict=False
    )
    return len(list(takewhile(lambda pair: pair[0] == pair[1], ends)))
