"""Convert what a linter reports about a line to a finding about the change."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from extensions.tools.linting.rules import Lens, LintRule, ReviewFinding
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_report import join_names

from .diff import ChangedFile

MIN_SURE_CONFIDENCE = 80
"""Below it a finding is a hint: passed to the worker's model, and left out by most teams."""
MAX_MESSAGE_CHARS = 240
NOT_SHIPPED_PENALTIES: Mapping[Lens, int] = {"security": 25, "performance": 10, "style": 10}
"""Subtracted from the confidence of a finding in tests, documents and examples."""
MOVED_PENALTY = 30
"""Subtracted where the diff removes the same line elsewhere in the file: it is moved, not new."""

_NOT_SHIPPED_PATH = Pattern(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|fixtures|conftest\.py|test_[^/]*|[^/]*_test\.py)(?:/|$)"
    r"|\.(?:md|rst|txt)$",
    re.IGNORECASE,
)
_NOQA = Pattern(r"#\s*noqa(?::\s*(?P<codes>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)


@dataclass(frozen=True)
class RuleHit:
    """A rule that matched on a line which the diff adds or changes."""

    file: ChangedFile
    line: int
    rule: LintRule
    code: str
    """The rule's full name, if the table only has its family."""
    message: str = ""
    advice: str = ""
    penalty: int = 0
    """Subtracted from the rule's confidence for the circumstances."""

    @property
    def confidence(self) -> int:
        less = self.penalty
        if _NOT_SHIPPED_PATH.search(self.file.path):
            less += NOT_SHIPPED_PENALTIES.get(self.rule.lens, 0)
        if self.file.added[self.line].strip() in self.file.removed_texts:
            less += MOVED_PENALTY
        return max(0, self.rule.confidence - less)

    def to_finding(self, also: Iterable[int] = ()) -> ReviewFinding:
        """Return it as a finding; `also` holds further lines of the same kind."""
        rule = self.rule
        words = sanitize_line(rule.message or self.message, MAX_MESSAGE_CHARS).rstrip(".")
        others = join_names(map(str, also))
        more = f", also in line {others}" if others else ""
        # What is in doubt is not grave: a grave finding is always reported.
        is_doubted = self.confidence < MIN_SURE_CONFIDENCE
        is_grave = rule.severity in ("critical", "high")
        return ReviewFinding(
            severity="medium" if is_grave and is_doubted else rule.severity,
            message=f"{words} [{self.code}]{more}.",
            file=self.file.path,
            line=self.line,
            suggestion=rule.advice or sanitize_line(self.advice, MAX_MESSAGE_CHARS),
            confidence=self.confidence,
        )


def is_waived(line: str, code: str) -> bool:
    """Return whether a line suppresses a rule with `noqa`."""
    found = _NOQA.search(line)
    if found is None:
        return False
    named = (found.group("codes") or "").upper()
    return not named or any(code.startswith(each) for each in Pattern(r"[\s,]+").split(named))


def list_waived_lines(file: ChangedFile) -> list[int]:
    """Return the added lines that suppress linters."""
    return [number for number, line in file.added.items() if _NOQA.search(line)]


def build_findings(hits: Iterable[RuleHit], *, together: bool = False) -> list[ReviewFinding]:
    """Build findings from hits without duplicates; `together` merges those of a rule and file."""
    groups: dict[tuple[str, str, int, int], dict[int, RuleHit]] = {}
    for hit in sorted(hits, key=lambda hit: (hit.line, hit.confidence)):
        place = 0 if together else hit.line
        key = (hit.file.path, hit.code, hit.confidence * together, place)
        groups.setdefault(key, {})[hit.line] = hit
    return [next(iter(group.values())).to_finding(list(group)[1:]) for group in groups.values()]
