"""Sort an incident's materials; find source files, definitions, uses and words in them.

Source files are among the materials, and in a git repository.
"""

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Field

from extensions.tools.logs.reader import LOG_SUFFIXES, is_log
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.csv_table import is_table_name
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.argument_types import Identifier, Query
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

PYTHON_SUFFIXES = (".py", ".pyi")
_OTHER_CODE = ".js .ts .go .java .rb .rs .c .cc .cpp .cs .php"
_CONFIGURATION = ".yaml .yml .toml .ini .cfg .conf .env .properties"
_KIND_BY_SUFFIX = {
    **dict.fromkeys((*PYTHON_SUFFIXES, *_OTHER_CODE.split()), "code"),
    **dict.fromkeys(LOG_SUFFIXES, "logs"),
    **dict.fromkeys(_CONFIGURATION.split(), "configuration"),
}


def sort_materials(materials: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Sort materials into kinds, by their names, and by their content where that is not enough."""
    matter = dict[str, dict[str, str]](code={}, logs={}, configuration={}, prose={})
    for name, text in materials.items():
        matter[detect_kind(name, text)][name] = text
    return matter


def detect_kind(name: str, text: str = "") -> str:
    """Return a material's kind: `code`, `logs`, `configuration` or `prose`."""
    path = PurePosixPath(name.lower())
    if kind := _KIND_BY_SUFFIX.get(path.suffix):
        return kind
    if path.name.startswith(".env"):
        return "configuration"
    if path.suffix == ".json":
        return "logs" if text.lstrip().startswith("[") else "configuration"
    return "logs" if is_table_name(name) or is_log(name, text) else "prose"


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

    @cached_property
    def tree(self) -> ast.Module | None:
        """Return its syntax tree; None if it is not Python that this version can parse."""
        if not self.name.lower().endswith(PYTHON_SUFFIXES):
            return None
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def definitions(self) -> list[tuple[str, DefinitionNode]]:
        """Return its functions and classes with their qualified names."""
        return list(_list_definitions(self.tree, "")) if self.tree else []

    def find_statements(self, line: int) -> list[ast.stmt]:
        """Return the statements that contain a line, the innermost last."""
        nodes = (node for node in ast.walk(self.tree or ast.Module([], [])))
        stated = (node for node in nodes if isinstance(node, ast.stmt))
        return [node for node in stated if node.lineno <= line <= (node.end_lineno or node.lineno)]

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
    gaps = [
        f"{each.name} cannot be parsed as Python; it was only searched."
        for each in given
        if each.name.lower().endswith(PYTHON_SUFFIXES) and not each.tree
    ]
    if not repository:
        return given, gaps
    stored, unread = _read_repository(repository)
    unknown = [one for one in stored if not any(is_same_file(one.name, g.name) for g in given)]
    return [*given, *unknown], [*gaps, *unread]


def _read_repository(root: str) -> tuple[list[SourceFile], list[str]]:
    # The git program is not run, so that a repository's configuration cannot run anything.
    from dulwich.errors import NotGitRepository
    from dulwich.object_store import iter_tree_contents
    from dulwich.objects import Blob, Commit
    from dulwich.repo import Repo

    found, large, size = list[SourceFile](), list[str](), 0
    try:
        with Repo(root) as repository:
            head = repository[repository.head()]
            tree = head.tree if isinstance(head, Commit) else None
            for entry in iter_tree_contents(repository.object_store, tree):
                name = os.fsdecode(entry.path or b"")
                # A submodule's commit is not in the store.
                if detect_kind(name) != "code" or entry.sha not in repository.object_store:
                    continue
                blob = repository.object_store[entry.sha]
                data = blob.data if isinstance(blob, Blob) else b""
                if len(data) > MAX_FILE_BYTES:
                    large.append(name)
                    continue
                size += len(data)
                if len(found) >= MAX_FILES or size > MAX_TOTAL_BYTES:
                    return found, ["The repository is large; only a part of it was read."]
                found.append(SourceFile(name, data.decode("utf-8", "replace")))
    except (NotGitRepository, KeyError, OSError):
        return [], [
            "The repository (setting: SUPERVISE_REPOSITORY) has no commit that can be read."
        ]
    most = f"{MAX_FILE_BYTES // 1000} kB"
    return found, [f"Not read, with more than {most}: {join_names(large)}."] * bool(large)


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


MAX_LINE_CHARS, MAX_MATCHES, MAX_NAMES = 200, 40, 5
SHOWN_COUNTS = (20, 8, 3)
NO_CODE = (
    "there is no code to search; attach source files (on the command line: --file), or set a "
    "repository (setting: SUPERVISE_REPOSITORY)"
)


def find_symbols(
    names: Annotated[
        list[Annotated[Identifier, Field(max_length=200)]],
        Field(description="Names of functions and classes, such as `Shop.charge` or `charge`"),
    ],
    materials: dict[str, str],
    repository: str,
) -> dict[str, Any]:
    """Find where functions and classes are defined and used; the first 5 names are looked up.

    Example: find_symbol(names=["find_coupon"])

    Raises:
        ToolRefused: there is no code.
    """
    sources, gaps = load_sources(materials, repository)
    if not sources:
        raise ToolRefused(NO_CODE)
    return fit_to_size(
        lambda size: _build_report(names[:MAX_NAMES], sources, gaps, size), SHOWN_COUNTS
    )


def search_lines(
    query: Annotated[
        Query,
        Field(description="Words of the lines to find, of three letters or more", max_length=2000),
    ],
    materials: dict[str, str],
    repository: str,
) -> dict[str, Any]:
    """Search the source files for words; lines that hold most of them come first, 40 at most.

    Example: search_code(query="coupon percent")

    Raises:
        ToolRefused: there is no code, or nothing to search for.
    """
    sources, gaps = load_sources(materials, repository)
    words = [word.lower() for word in Pattern(r"\w{3,}").findall(query)]
    if not sources or not words:
        wordless = "the query has no word of three letters or more; give one"
        raise ToolRefused(wordless if sources else NO_CODE)
    found = [
        (-sum(word in line.lower() for word in words), source.name, number, line)
        for source in sources
        for number, line in enumerate(source.lines, 1)
    ]
    ranked = sorted(each for each in found if each[0])
    shown = [
        {"file": name, "line": number, "text": sanitize_line(line, MAX_LINE_CHARS)}
        for _, name, number, line in ranked[:MAX_MATCHES]
    ]
    more = [f"{len(ranked) - len(shown)} more lines hold the words."] * (len(ranked) > len(shown))
    return {"matches": shown, "total": len(ranked), "gaps": [*gaps, *more]}


def _build_report(
    names: Sequence[str], sources: Sequence[SourceFile], gaps: list[str], size: int
) -> ToolReport:
    reply = ToolReport(gaps=list(gaps))
    definitions = [(source, *each) for source in sources for each in source.definitions]
    for name in names:
        shown_name, last = format_as_code(sanitize_line(name, 100)), name.rpartition(".")[2]
        defined = [
            (source, qualified, node)
            for source, qualified, node in definitions
            if name in (qualified, qualified.rpartition(".")[2])
        ]
        for source, qualified, node in defined:
            lines = f"lines {node.lineno} to {node.end_lineno}"
            text = f"`{qualified}` is defined in {source.name}, {lines}."
            reply.lines.append(f"- {text}")
            reply.add_claim(text, source.name, source.get_line(node.lineno))
        uses = [(source, line) for source in sources for line in _find_uses(last, source)]
        if not defined and not uses:
            known = join_names(qualified for _, qualified, _ in definitions)
            reply.gaps.append(f"{shown_name} is not in the code, which defines {known[:1000]}.")
            continue
        reply.lines.append(f"- {shown_name} is used in {format_count(len(uses), 'place')}.")
        for source, line in uses[:size]:
            shown = sanitize_line(source.get_line(line), MAX_LINE_CHARS)
            reply.lines.append(f"  - {source.name}:{line} {format_as_code(shown)}")
            reply.add_claim(f"{shown_name} is used at {source.name}:{line}.", source.name, shown)
    return reply


def _find_uses(name: str, source: SourceFile) -> list[int]:
    """Return the lines that read a name; without a syntax tree, those that contain the word."""
    if source.tree is None:
        word = Pattern(rf"\b{re.escape(name)}\b")
        return [n for n, line in enumerate(source.lines, 1) if word.search(line)]
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, ast.Name | ast.Attribute)]
    return sorted(
        {n.lineno for n in nodes if name == (n.id if isinstance(n, ast.Name) else n.attr)}
    )
