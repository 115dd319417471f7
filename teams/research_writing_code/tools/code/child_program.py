"""The child process that reads code: hostile input can crash the parsers."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from extensions.tools.linting.ruff_process import SYNTAX_CODE, RuffHit, lint_files
from extensions.tools.linting.rules import find_rule, list_rule_codes
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

PLURALS = {"function": "functions", "class": "classes"}


def outline_module(text: str) -> str:
    """Return the lines, functions and classes of a module in words.

    Raises:
        SyntaxError: it cannot be parsed, for its syntax, its depth or its characters.
    """
    try:
        defined = list(_list_definitions(ast.parse(text).body))
    except (RecursionError, MemoryError):
        raise SyntaxError("nested too deeply to be read") from None
    except ValueError as error:
        raise SyntaxError(str(error)) from None
    parts = [format_count(len(text.rstrip("\n").split("\n")), "line")]
    for noun, plural in PLURALS.items():
        if names := [name for kind, name in defined if kind == noun]:
            parts.append(f"{format_count(len(names), noun, plural)} ({join_names(names)})")
    return ", ".join(parts)


def _list_definitions(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "function", prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield "class", prefix + node.name
            yield from _list_definitions(node.body, f"{prefix}{node.name}.")


REPORT_SIZES = (60, 30, 15, 5)
"""Remarks that are reported; fewer where they are too long together."""
MAX_LINE_CHARS = 200
STYLE_FAMILIES = ("F", "E7")
"""Style rule families that are used: what is unused, and comparisons that mislead."""
JUDGEMENT_GAP = (
    "A parser and a linter have read the code; whether it does what it is meant to do, and how to "
    "fix it, is for a language model or a human to judge."
)

_NOQA = Pattern(r"#\s*(?:ruff:\s*|flake8:\s*)?noqa", re.IGNORECASE)


def check_modules(modules: dict[str, str]) -> dict[str, Any]:
    """Return a report on modules by name."""
    style = [code for code in list_rule_codes("ruff", "style") if code.startswith(STYLE_FAMILIES)]
    hits = lint_files(modules, [*list_rule_codes("ruff", "bugs"), *style])
    read = {name: _read_module(text) for name, text in modules.items()}
    return fit_to_size(lambda most: _compose_report(modules, read, hits, most), REPORT_SIZES)


def _read_module(text: str) -> str | SyntaxError:
    try:
        return outline_module(text)
    except SyntaxError as error:
        return error


def _compose_report(
    modules: Mapping[str, str],
    read: Mapping[str, str | SyntaxError],
    hits: Sequence[RuffHit],
    most: int,
) -> ToolReport:
    report = ToolReport(gaps=[JUDGEMENT_GAP])
    broken = [name for name, seen in read.items() if isinstance(seen, SyntaxError)]
    for name, seen in read.items():
        own = [hit for hit in hits if hit.file == name]
        if isinstance(seen, SyntaxError):
            _add_syntax_errors(report, name, modules[name], seen, own)
        else:
            result = format_count(len(own), "remark") if own else "no remark"
            report.lines.append(f"- {name}: {seen}; syntax in order, {result} by ruff.")
            report.add_claim(f"{name} has {seen}; its syntax is in order.", name)
    if waived := [name for name, text in modules.items() if _NOQA.search(text)]:
        report.gaps.append(f"Lines that say `noqa` were passed over in {join_names(waived)}.")
    kept = [hit for hit in hits if hit.file not in broken]
    for hit in kept[:most]:
        _add_hit(report, hit, _get_line(modules[hit.file], hit.line))
    if len(kept) > most:
        report.gaps.append(f"{len(kept) - most} more remarks of the linter are left out.")
    return report


def _add_syntax_errors(
    report: ToolReport, name: str, text: str, error: SyntaxError, hits: Sequence[RuffHit]
) -> None:
    line = error.lineno or 1
    message = f"{sanitize_line(error.msg, MAX_LINE_CHARS)}: `{_get_line(text, line)}`"
    report.lines.append(f"- {name}: syntax error in line {line}, {message}.")
    report.add_claim(f"{name} has a syntax error in line {line}, {message}.", name)
    report.add_finding("critical", message, name, line=line)
    others = [hit for hit in hits if hit.code == SYNTAX_CODE]
    for hit in others:
        if hit.line != line:
            report.add_finding("high", f"{hit.message} [{SYNTAX_CODE}]", name, line=hit.line)
    if not others:
        report.gaps.append(f"{name} may be written for a newer Python than the one that read it.")
    report.gaps.append(f"{name} was not linted beyond its syntax, which is broken.")


def _add_hit(report: ToolReport, hit: RuffHit, line: str) -> None:
    if rule := find_rule("ruff", hit.code):
        message = rule.message or sanitize_line(hit.message, MAX_LINE_CHARS).rstrip(".")
        shown = f"{message} [{hit.code}]: `{line}`"
        report.add_finding(rule.severity, shown, hit.file, rule.advice or hit.fix, hit.line)
        report.findings[-1]["confidence"] = rule.confidence


def _get_line(text: str, number: int) -> str:
    lines = text.split("\n")
    return sanitize_line(lines[number - 1], MAX_LINE_CHARS) if 0 < number <= len(lines) else ""
