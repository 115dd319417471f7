"""Ruff over fragments: isolated from any configuration, on files with made up names."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.tools.review.diff import ChangedFile
from nodes.tools.review.fragments import Fragment
from nodes.tools.review.hits import Hit, is_waived
from nodes.tools.review.ruff import ruff_hits
from nodes.tools.review.rules import Rule, rule_of

MAX_COMPLEXITY = 15
LESS_WHERE_CUT = 15
"""Taken where a statement begins or ends outside of what the diff shows."""

_RE_EXPORTS = Pattern(r"(?:^|/)(?:__init__\.py|[^/]*compat[^/]*)$")
"""Files that import names for others to import."""


@dataclass(frozen=True)
class Source:
    """A fragment and the file that it is of."""

    file: ChangedFile
    fragment: Fragment

    def added_line(self, row: int) -> int:
        """Give the new file's number of a row, counted from 1; 0 where the diff did not add it."""
        numbers = self.fragment.numbers
        number = numbers[row - 1] if 0 < row <= len(numbers) else 0
        return number if number in self.file.added else 0


def rule_of_nothing(code: str) -> Rule | None:
    """Know no rule."""
    return None


@dataclass(frozen=True)
class Options:
    """What of ruff's settings may differ from its defaults."""

    select: Sequence[str]
    others: Callable[[str], Rule | None] = rule_of_nothing
    """Says what a rule is worth that the table does not have."""
    line_length: int = 88
    target: str = "py310"


def hits(sources: Sequence[Source], options: Options, folder: Path) -> list[Hit]:
    """Lint the sources in a folder of their own, and keep what the diff has brought about."""
    if not sources or not options.select:
        return []
    written(sources, folder)
    found = _checked(options, folder)
    return [hit for told in found for hit in _hits(told, sources, options)]


def written(sources: Sequence[Source], folder: Path) -> list[Path]:
    """Write the sources to a folder, under names that have nothing of the diff's."""
    paths = list[Path]()
    for index, source in enumerate(sources):
        suffix = ".pyi" if source.file.path.endswith(".pyi") else ".py"
        paths.append(folder / f"f{index}{suffix}")
        paths[-1].write_text(source.fragment.text, encoding="utf-8", errors="replace")
    return paths


def _checked(options: Options, folder: Path) -> list[dict[str, Any]]:
    return ruff_hits(
        folder,
        *("--ignore-noqa", "--select", ",".join(options.select)),
        *("--line-length", str(options.line_length), "--target-version", options.target),
        *("--config", f"lint.mccabe.max-complexity={MAX_COMPLEXITY}"),
    )


def _hits(told: dict[str, Any], sources: Sequence[Source], options: Options) -> Iterator[Hit]:
    code = told.get("code") or ""
    rule = rule_of("ruff", code) or options.others(code)
    source = sources[int(Path(told["filename"]).stem[1:])]
    line = source.added_line(told["location"]["row"])
    if rule is None or not line or is_waived(source.file.added[line], code):
        return
    if rule.needs == "file" and not source.fragment.is_whole:
        return
    if code == "F401" and _RE_EXPORTS.search(source.file.path):
        return
    fix = told.get("fix") or {}
    less = LESS_WHERE_CUT * (line in source.fragment.cut)
    yield Hit(source.file, line, rule, code, told["message"], fix.get("message") or "", less)
