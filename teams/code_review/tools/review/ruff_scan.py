"""Run ruff over fragments, and keep what the diff has introduced."""

from collections.abc import Callable, Sequence

from extensions.tools.linting.ruff_process import lint_files
from extensions.tools.linting.rules import LintRule, find_rule
from nodes.limits.patterns import Pattern

from .fragments import CodeFragment
from .hits import RuleHit, is_waived

MAX_COMPLEXITY = 15
_REEXPORTING_PATH = Pattern(r"(?:^|/)(?:__init__\.py|[^/]*compat[^/]*)$")
"""Files that import names for re-export."""


def scan_with_ruff(
    fragments: Sequence[CodeFragment],
    select: Sequence[str],
    *,
    find_other_rule: Callable[[str], LintRule | None] = lambda code: None,
    line_length: int = 88,
    target_version: str = "py310",
    is_preview: bool = False,
) -> list[RuleHit]:
    """Return what ruff finds in the lines that the diff adds.

    Args:
        find_other_rule: returns the rule for a code that is not in the table.
        is_preview: the selected rules are those that ruff has in preview.
    """
    by_name = {f"{index} {one.file.path}": one for index, one in enumerate(fragments)}
    found = lint_files(
        {name: one.text for name, one in by_name.items()},
        select,
        *("--ignore-noqa", "--line-length", str(line_length), "--target-version", target_version),
        *(["--preview"] if is_preview else []),
        *("--config", f"lint.mccabe.max-complexity={MAX_COMPLEXITY}"),
    )
    hits = list[RuleHit]()
    for hit in found:
        fragment = by_name[hit.file]
        file, line = fragment.file, fragment.find_added_line(hit.line)
        rule = find_rule("ruff", hit.code) or find_other_rule(hit.code)
        if rule is None or not line or is_waived(file.added[line], hit.code):
            continue
        if rule.needs == "file" and not fragment.is_whole:
            continue
        if hit.code != "F401" or not _REEXPORTING_PATH.search(file.path):
            hits.append(RuleHit(file, line, rule, hit.code, hit.message, hit.fix))
    return hits
