"""Find where functions and classes are defined and used, and where words occur in the code."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .errors import InsufficientMaterials
from .sources import DefinitionNode, SourceFile, load_sources

MAX_SYMBOLS, MAX_QUERY_CHARS, MAX_LINE_CHARS = 5, 200, 200
SHOWN_COUNTS = (20, 8, 3)
NO_CODE = "there is no code to search; give source files with --file, or set SUPERVISE_REPOSITORY"
_QUOTED = Pattern(r"[`\"“]([^`\"“”\n]{2,80})[`\"”]")
_IDENTIFIER = Pattern(r"[A-Za-z_][\w.]*")
_CODE_LIKE = Pattern(r"_|\w\.\w|[a-z][A-Z]|^[A-Z]+\d*[a-z]+[A-Z]")


def find_symbol(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{request, materials, repository}`: definitions and uses of the names in it.

    Raises:
        InsufficientMaterials: there is no code.
    """
    sources, gaps = _require_sources(request)
    wanted = list(dict.fromkeys(_find_known_names(request["request"], sources)))[:MAX_SYMBOLS]
    if not wanted:
        known = [name[:100] for one in sources for name, _ in one.definitions][:80]
        return {"symbols": known, "remark": "the request names none of these"}
    return fit_to_size(lambda size: _build_report(wanted, sources, gaps, size), SHOWN_COUNTS)


def _find_known_names(request: str, sources: Sequence[SourceFile]) -> Iterator[str]:
    """Return names that occur in the code and are not common words, unless they are quoted."""
    known = {
        part
        for one in sources
        for name, _ in one.definitions
        for part in (name, _get_last_part(name))
    }
    quoted = {word.rstrip("()") for word in _QUOTED.findall(request)}
    for found in _IDENTIFIER.finditer(request):
        word = found.group().rstrip(".")
        is_called = request[found.end() : found.end() + 1] == "("
        if word in known and (is_called or word in quoted or _CODE_LIKE.search(word)):
            yield word


def _build_report(
    wanted: Sequence[str], sources: Sequence[SourceFile], gaps: list[str], size: int
) -> ToolReport:
    reply = ToolReport(gaps=list(gaps))
    for name in wanted:
        for source, qualified, node in _find_definitions(name, sources):
            lines = f"lines {node.lineno} to {node.end_lineno}"
            text = f"`{qualified}` is defined in {source.name}, {lines}."
            reply.lines.append(f"- {text}")
            reply.add_claim(text, source.name, source.get_line(node.lineno))
        uses = [
            (source, line)
            for source in sources
            for line in _find_uses(_get_last_part(name), source)
        ]
        reply.lines.append(f"- `{name}` is used in {format_count(len(uses), 'place')}.")
        for source, line in uses[:size]:
            shown = sanitize_line(source.get_line(line), MAX_LINE_CHARS)
            reply.lines.append(f"  - {source.name}:{line} {format_as_code(shown)}")
            reply.add_claim(f"`{name}` is used at {source.name}:{line}.", source.name, shown)
    return reply


def _find_definitions(
    name: str, sources: Sequence[SourceFile]
) -> Iterator[tuple[SourceFile, str, DefinitionNode]]:
    for source in sources:
        for qualified, node in source.definitions:
            if qualified == name or _get_last_part(qualified) == name:
                yield source, qualified, node


def _find_uses(name: str, source: SourceFile) -> list[int]:
    """Return the lines that read a name; without a syntax tree, those that contain the word."""
    if source.tree is None:
        word = Pattern(rf"\b{re.escape(name)}\b")
        return [n for n, line in enumerate(source.lines, 1) if word.search(line)]
    found = {
        node.lineno
        for node in ast.walk(source.tree)
        if (isinstance(node, ast.Name) and node.id == name)
        or (isinstance(node, ast.Attribute) and node.attr == name)
    }
    return sorted(found)


def _get_last_part(name: str) -> str:
    return name.rpartition(".")[2]


def search_code(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{query, materials, repository}`: the lines that contain most of the words.

    Raises:
        InsufficientMaterials: there is no code, or nothing to search for.
    """
    sources, gaps = _require_sources(request)
    words = [
        word.lower() for word in Pattern(r"\w{3,}").findall(request["query"][:MAX_QUERY_CHARS])
    ]
    if not words:
        raise InsufficientMaterials("the query has no word of three letters or more; give one")
    ranked = sorted(
        (
            (-sum(word in line.lower() for word in words), source.name, number, line)
            for source in sources
            for number, line in enumerate(source.lines, 1)
            if any(word in line.lower() for word in words)
        ),
        key=lambda found: found[:3],
    )
    shown = [
        {"file": name, "line": number, "text": sanitize_line(line, MAX_LINE_CHARS)}
        for _, name, number, line in ranked[:40]
    ]
    more = [f"{len(ranked) - len(shown)} more lines hold the words."] * (len(ranked) > len(shown))
    return {"matches": shown, "total": len(ranked), "gaps": [*gaps, *more]}


def _require_sources(request: dict[str, Any]) -> tuple[list[SourceFile], list[str]]:
    sources, gaps = load_sources(request["materials"], request["repository"])
    if not sources:
        raise InsufficientMaterials(NO_CODE)
    return sources, gaps
