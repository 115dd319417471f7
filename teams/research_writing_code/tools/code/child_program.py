"""The child process that reads code: hostile input can crash the parsers."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .module_linting import SYNTAX_CODE, LintRemark, lint_modules
from .syntax import ModuleOutline, SyntaxProblem, get_line, parse_module

REPORT_SIZES = (60, 30, 15, 5)
"""Remarks that are reported; fewer where they are too long together."""
JUDGEMENT_GAP = (
    "A parser and a linter have read the code; whether it does what it is meant to do, and how to "
    "fix it, is for a language model or a human to judge."
)

_NOQA = Pattern(r"#\s*(?:ruff:\s*|flake8:\s*)?noqa", re.IGNORECASE)


def check_modules(modules: dict[str, str], folder: str) -> dict[str, Any]:
    """Return a report on modules; the linter reads copies of them in the folder."""
    remarks = lint_modules(modules, Path(folder))
    read = {name: parse_module(name, text) for name, text in modules.items()}
    return fit_to_size(lambda most: _compose_report(modules, read, remarks, most), REPORT_SIZES)


def _compose_report(
    modules: Mapping[str, str],
    read: Mapping[str, ModuleOutline | SyntaxProblem],
    remarks: Sequence[LintRemark],
    most: int,
) -> ToolReport:
    reply, broken = ToolReport(gaps=[JUDGEMENT_GAP]), set[str]()
    for name, seen in read.items():
        if isinstance(seen, SyntaxProblem):
            broken.add(name)
            _report_syntax_error(reply, name, seen, remarks)
        else:
            count = sum(remark.name == name for remark in remarks)
            _report_outline(reply, name, seen, count)
    if waived := [name for name, text in modules.items() if _NOQA.search(text)]:
        reply.gaps.append(f"Lines that say `noqa` were passed over in {join_names(waived)}.")
    kept = [remark for remark in remarks if remark.name not in broken]
    for remark in kept[:most]:
        shown = f"{remark.message} [{remark.code}]: `{get_line(modules[remark.name], remark.line)}`"
        reply.add_finding(remark.severity, shown, remark.name, remark.advice, remark.line)
        reply.findings[-1]["confidence"] = remark.confidence
    if len(kept) > most:
        reply.gaps.append(f"{len(kept) - most} more remarks of the linter are left out.")
    return reply


def _report_syntax_error(
    reply: ToolReport, name: str, problem: SyntaxProblem, remarks: Sequence[LintRemark]
) -> None:
    lines = [remark for remark in remarks if (remark.name, remark.code) == (name, SYNTAX_CODE)]
    shown = f": `{problem.text}`" if problem.text else ""
    told = f"syntax error in line {problem.line}, {problem.message}{shown}"
    reply.lines.append(f"- {name}: {told}.")
    reply.add_claim(f"{name} has a {told}.", name)
    reply.add_finding("critical", f"{problem.message}{shown}", name, "", problem.line)
    for remark in lines:
        if remark.line != problem.line:
            reply.add_finding("high", f"{remark.message} [{SYNTAX_CODE}]", name, "", remark.line)
            reply.findings[-1]["confidence"] = remark.confidence
    if not lines:
        reply.gaps.append(f"{name} may be written for a newer Python than the one that read it.")
    reply.gaps.append(f"{name} was not linted beyond its syntax, which is broken.")


def _report_outline(reply: ToolReport, name: str, outline: ModuleOutline, count: int) -> None:
    result = format_count(count, "remark") if count else "no remark"
    reply.lines.append(f"- {name}: {outline.describe()}; syntax in order, {result} by ruff.")
    reply.add_claim(f"{name} has {outline.describe()}; its syntax is in order.", name)
    if outline.third_party:
        reply.add_claim(
            f"{name} imports {join_names(outline.third_party)} from outside of Python.", name
        )
