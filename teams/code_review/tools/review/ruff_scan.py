"""Run ruff over fragments: isolated from any configuration, on files with made-up names."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.tools.linting.ruff_process import run_ruff
from nodes.tools.linting.rules import LintRule, find_rule

from .diff import ChangedFile
from .fragments import CodeFragment
from .hits import RuleHit, is_waived

MAX_COMPLEXITY = 15
CUT_PENALTY = 15
"""Subtracted where a statement begins or ends outside of what the diff shows."""

_REEXPORTING_PATH = Pattern(r"(?:^|/)(?:__init__\.py|[^/]*compat[^/]*)$")
"""Files that import names for re-export."""


@dataclass(frozen=True)
class LintSource:
    """A fragment and its file."""

    file: ChangedFile
    fragment: CodeFragment

    def find_added_line(self, row: int) -> int:
        """Return the new file's number of a row, counted from 1; 0 if the diff did not add it."""
        numbers = self.fragment.numbers
        number = numbers[row - 1] if 0 < row <= len(numbers) else 0
        return number if number in self.file.added else 0


def find_no_rule(code: str) -> LintRule | None:
    """Return no rule for any code."""
    return None


@dataclass(frozen=True)
class RuffOptions:
    """Options of ruff that may differ from the defaults."""

    select: Sequence[str]
    find_other_rule: Callable[[str], LintRule | None] = find_no_rule
    """Returns the rule for a code that is not in the table."""
    line_length: int = 88
    target_version: str = "py310"


def lint_sources(
    sources: Sequence[LintSource], options: RuffOptions, folder: Path
) -> list[RuleHit]:
    """Lint the sources in a folder of their own, and keep what the diff has introduced."""
    if not sources or not options.select:
        return []
    write_sources(sources, folder)
    found = _check_folder(options, folder)
    return [hit for told in found for hit in _build_hits(told, sources, options)]


def write_sources(sources: Sequence[LintSource], folder: Path) -> list[Path]:
    """Write the sources to a folder, under names that do not come from the diff."""
    paths = list[Path]()
    for index, source in enumerate(sources):
        suffix = ".pyi" if source.file.path.endswith(".pyi") else ".py"
        paths.append(folder / f"f{index}{suffix}")
        paths[-1].write_text(source.fragment.text, encoding="utf-8", errors="replace")
    return paths


def _check_folder(options: RuffOptions, folder: Path) -> list[dict[str, Any]]:
    return run_ruff(
        folder,
        *("--ignore-noqa", "--select", ",".join(options.select)),
        *("--line-length", str(options.line_length), "--target-version", options.target_version),
        *("--config", f"lint.mccabe.max-complexity={MAX_COMPLEXITY}"),
    )


def _build_hits(
    told: dict[str, Any], sources: Sequence[LintSource], options: RuffOptions
) -> Iterator[RuleHit]:
    code = told.get("code") or ""
    rule = find_rule("ruff", code) or options.find_other_rule(code)
    source = sources[int(Path(told["filename"]).stem[1:])]
    line = source.find_added_line(told["location"]["row"])
    if rule is None or not line or is_waived(source.file.added[line], code):
        return
    if rule.needs == "file" and not source.fragment.is_whole:
        return
    if code == "F401" and _REEXPORTING_PATH.search(source.file.path):
        return
    fix = told.get("fix") or {}
    less = CUT_PENALTY * (line in source.fragment.cut_lines)
    yield RuleHit(source.file, line, rule, code, told["message"], fix.get("message") or "", less)
