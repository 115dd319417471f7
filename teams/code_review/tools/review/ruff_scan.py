"""Run ruff over fragments, and keep what the diff has introduced."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nodes.limits.patterns import Pattern
from nodes.tools.linting.ruff_process import RuffHit, lint_files
from nodes.tools.linting.rules import LintRule, find_rule

from .fragments import CodeFragment
from .hits import RuleHit, is_waived

MAX_COMPLEXITY = 15
CUT_PENALTY = 15
"""Subtracted where a statement begins or ends outside of what the diff shows."""
_REEXPORTING_PATH = Pattern(r"(?:^|/)(?:__init__\.py|[^/]*compat[^/]*)$")
"""Files that import names for re-export."""


@dataclass(frozen=True)
class RuffOptions:
    """Options of ruff that may differ from the defaults."""

    select: Sequence[str]
    find_other_rule: Callable[[str], LintRule | None] = lambda code: None
    """Returns the rule for a code that is not in the table."""
    line_length: int = 88
    target_version: str = "py310"


def scan_with_ruff(fragments: Sequence[CodeFragment], options: RuffOptions) -> list[RuleHit]:
    """Return what ruff finds in the lines that the diff adds."""
    by_name = {f"{index} {one.file.path}": one for index, one in enumerate(fragments)}
    found = lint_files(
        {name: one.text for name, one in by_name.items()},
        options.select,
        *("--ignore-noqa", "--line-length", str(options.line_length)),
        *("--target-version", options.target_version),
        *("--config", f"lint.mccabe.max-complexity={MAX_COMPLEXITY}"),
    )
    return [each for hit in found for each in _convert_hit(hit, by_name[hit.file], options)]


def _convert_hit(hit: RuffHit, fragment: CodeFragment, options: RuffOptions) -> Iterator[RuleHit]:
    file, line = fragment.file, fragment.find_added_line(hit.line)
    rule = find_rule("ruff", hit.code) or options.find_other_rule(hit.code)
    if rule is None or not line or is_waived(file.added[line], hit.code):
        return
    if rule.needs == "file" and not fragment.is_whole:
        return
    if hit.code == "F401" and _REEXPORTING_PATH.search(file.path):
        return
    less = CUT_PENALTY * (line in fragment.cut_lines)
    yield RuleHit(file, line, rule, hit.code, hit.message, hit.fix, less)
