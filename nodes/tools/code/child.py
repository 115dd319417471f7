"""The child process that reads code: the parsers can be brought down by what is made for it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.tools.code.linting import SYNTAX, Remark, linted
from nodes.tools.code.syntax import Outline, SyntaxProblem, line_of, parsed
from nodes.tools.isolation import serve
from nodes.tools.replies import Reply, counted, fitted, listed

MAX_WRITTEN_BYTES = 1_000_000
SIZES = (60, 30, 15, 5)
"""Remarks that are told, fewer where they are too long together."""
JUDGEMENT = (
    "A parser and a linter have read the code; whether it does what it is meant to do, and how to "
    "mend it, is for a language model or a person to judge."
)

_WAIVED = Pattern(r"#\s*(?:ruff:\s*|flake8:\s*)?noqa", re.IGNORECASE)


def check(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{modules, folder}` in the report's own words."""
    modules: dict[str, str] = request["modules"]
    remarks = linted(modules, Path(request["folder"]))
    read = {name: parsed(name, text) for name, text in modules.items()}
    return fitted(lambda most: _told(modules, read, remarks, most), SIZES)


def _told(
    modules: Mapping[str, str],
    read: Mapping[str, Outline | SyntaxProblem],
    remarks: Sequence[Remark],
    most: int,
) -> Reply:
    reply, broken = Reply(gaps=[JUDGEMENT]), set[str]()
    for name, seen in read.items():
        if isinstance(seen, SyntaxProblem):
            broken.add(name)
            _tell_unreadable(reply, name, seen, remarks)
        else:
            count = sum(remark.name == name for remark in remarks)
            _tell_outline(reply, name, seen, count)
    if waived := [name for name, text in modules.items() if _WAIVED.search(text)]:
        reply.gaps.append(f"Lines that say `noqa` were passed over in {listed(waived)}.")
    kept = [remark for remark in remarks if remark.name not in broken]
    for remark in kept[:most]:
        shown = f"{remark.message} [{remark.code}]: `{line_of(modules[remark.name], remark.line)}`"
        reply.finding(remark.severity, shown, remark.name, remark.advice, remark.line)
        reply.findings[-1]["confidence"] = remark.confidence
    if len(kept) > most:
        reply.gaps.append(f"{len(kept) - most} more remarks of the linter are left out.")
    return reply


def _tell_unreadable(
    reply: Reply, name: str, problem: SyntaxProblem, remarks: Sequence[Remark]
) -> None:
    lines = [remark for remark in remarks if (remark.name, remark.code) == (name, SYNTAX)]
    shown = f": `{problem.text}`" if problem.text else ""
    told = f"syntax error in line {problem.line}, {problem.message}{shown}"
    reply.lines.append(f"- {name}: {told}.")
    reply.claim(f"{name} has a {told}.", name)
    reply.finding("critical", f"{problem.message}{shown}", name, "", problem.line)
    for remark in lines:
        if remark.line != problem.line:
            reply.finding("high", f"{remark.message} [{SYNTAX}]", name, "", remark.line)
            reply.findings[-1]["confidence"] = remark.confidence
    if not lines:
        reply.gaps.append(f"{name} may be written for a newer Python than the one that read it.")
    reply.gaps.append(f"{name} was not linted beyond its syntax, which is broken.")


def _tell_outline(reply: Reply, name: str, outline: Outline, count: int) -> None:
    result = counted(count, "remark") if count else "no remark"
    reply.lines.append(f"- {name}: {outline.told()}; syntax in order, {result} by ruff.")
    reply.claim(f"{name} has {outline.told()}; its syntax is in order.", name)
    if outline.foreign:
        reply.claim(f"{name} imports {listed(outline.foreign)} from outside of Python.", name)


if __name__ == "__main__":
    serve(check, max_written_bytes=MAX_WRITTEN_BYTES)
