"""Run bandit over fragments: known patterns of vulnerable code.

Its `nosec` comments are ignored: an attacker who wants to hide a hole would write one.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from bandit.core.config import BanditConfig  # type: ignore[import-untyped]
from bandit.core.issue import Issue  # type: ignore[import-untyped]
from bandit.core.manager import BanditManager  # type: ignore[import-untyped]

from nodes.tools.linting.rules import find_rule, list_rule_codes

from .hits import RuleHit
from .ruff_scan import LintSource, write_sources

DOUBT_PENALTIES = {"HIGH": 0, "MEDIUM": 5, "LOW": 20}
"""By bandit's own confidence, for those of its tests that report more than one level."""
DOUBTED_TESTS = frozenset(("B202", "B608", "B701"))
HARMLESS_PENALTY = 25
"""Where bandit reports a milder form, such as a shell command that is a constant."""


def scan_with_bandit(
    sources: Sequence[LintSource], folder: Path
) -> tuple[list[RuleHit], list[str]]:
    """Scan the sources in a folder of their own, and keep what the diff has introduced.

    Returns:
        The hits, and the names of the files that could not be scanned.
    """
    profile = {"include": list_rule_codes("bandit", "security")}
    manager = BanditManager(BanditConfig(), "file", profile=profile, ignore_nosec=True)
    manager.files_list = [str(path) for path in write_sources(sources, folder)]
    manager.run_tests()
    found = [hit for issue in manager.get_issue_list() for hit in _build_hits(issue, sources)]
    skipped = [_find_source(name, sources).file.path for name, _ in manager.get_skipped()]
    return found, list(dict.fromkeys(skipped))


def _build_hits(issue: Issue, sources: Sequence[LintSource]) -> Iterator[RuleHit]:
    rule = find_rule("bandit", issue.test_id)
    source = _find_source(issue.fname, sources)
    line = source.find_added_line(issue.lineno)
    if rule is None or not line:
        return
    less = DOUBT_PENALTIES[issue.confidence] if issue.test_id in DOUBTED_TESTS else 0
    less += HARMLESS_PENALTY * (issue.severity == "LOW" and rule.severity != "low")
    yield RuleHit(source.file, line, rule, issue.test_id, penalty=less)


def _find_source(name: str, sources: Sequence[LintSource]) -> LintSource:
    """Return the source that was written to a file of this name."""
    return sources[int(Path(name).stem[1:])]
