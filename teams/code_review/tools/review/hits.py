"""Convert what a linter reports about a line to a finding about the change."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.linting.finding import ReviewFinding
from nodes.tools.linting.rules import Lens, LintRule

from .diff import ChangedFile

MIN_SURE_CONFIDENCE = 80
"""Below it a finding is a hint: passed to the worker's model, and left out by most teams."""
MAX_MESSAGE_CHARS = 240
MAX_LINES_NAMED = 6
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
        if is_not_shipped(self.file.path):
            less += NOT_SHIPPED_PENALTIES.get(self.rule.lens, 0)
        if is_moved(self.file, self.line):
            less += MOVED_PENALTY
        return max(0, self.rule.confidence - less)

    def to_finding(self, also: Iterable[int] = ()) -> ReviewFinding:
        """Return it as a finding; `also` holds further lines of the same kind."""
        rule = self.rule
        words = sanitize_line(rule.message or self.message, MAX_MESSAGE_CHARS).rstrip(".")
        lines = sorted(also)
        more = f", also in line {', '.join(map(str, lines[:MAX_LINES_NAMED]))}" if lines else ""
        more += f" and {len(lines) - MAX_LINES_NAMED} more" * (len(lines) > MAX_LINES_NAMED)
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


def is_not_shipped(path: str) -> bool:
    """Return whether a file is a test, document or example, not shipped code."""
    return _NOT_SHIPPED_PATH.search(path) is not None


def is_moved(file: ChangedFile, line: int) -> bool:
    """Return whether the diff removes the line elsewhere in the file, ignoring indentation."""
    text = file.added.get(line, "").strip()
    return bool(text) and text in file.removed_texts


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
    by_place: dict[tuple[str, str, int], RuleHit] = {}
    for hit in hits:
        key = (hit.file.path, hit.code, hit.line)
        if key not in by_place or by_place[key].confidence < hit.confidence:
            by_place[key] = hit
    groups: dict[tuple[str, str, int, int], list[RuleHit]] = {}
    for hit in sorted(by_place.values(), key=lambda hit: hit.line):
        place = 0 if together else hit.line
        groups.setdefault((hit.file.path, hit.code, hit.confidence, place), []).append(hit)
    return [first.to_finding([hit.line for hit in others]) for first, *others in groups.values()]
