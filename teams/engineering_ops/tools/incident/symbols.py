"""Find where functions and classes are defined and used, and where words occur in the code."""

import ast
import re
from collections.abc import Sequence
from typing import Any

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .sources import SourceFile, load_sources

MAX_LINE_CHARS, MAX_MATCHES = 200, 40
SHOWN_COUNTS = (20, 8, 3)
NO_CODE = "there is no code to search; give source files with --file, or set SUPERVISE_REPOSITORY"


def find_symbols(names: list[str], materials: dict[str, str], repository: str) -> dict[str, Any]:
    """Return the definitions and uses of functions and classes.

    Raises:
        ToolRefused: there is no code.
    """
    sources, gaps = load_sources(materials, repository)
    if not sources:
        raise ToolRefused(NO_CODE)
    return fit_to_size(lambda size: _build_report(names, sources, gaps, size), SHOWN_COUNTS)


def search_lines(query: str, materials: dict[str, str], repository: str) -> dict[str, Any]:
    """Return the lines that contain most of the words of a query.

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
