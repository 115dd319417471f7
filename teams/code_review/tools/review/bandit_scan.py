"""Run bandit over fragments, and keep what the diff has introduced.

Its `nosec` comments are ignored: an attacker who wants to hide a hole would write one.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bandit.core.config import BanditConfig  # type: ignore[import-untyped]
from bandit.core.issue import Issue  # type: ignore[import-untyped]
from bandit.core.manager import BanditManager  # type: ignore[import-untyped]

from extensions.tools.linting.ruff_process import get_source_index, write_sources
from extensions.tools.linting.rules import find_rule, list_rule_codes

from .fragments import CodeFragment, RuleHit

DOUBT_PENALTIES = {"HIGH": 0, "MEDIUM": 5, "LOW": 20}
"""By bandit's own confidence, for those of its tests that report more than one level."""
DOUBTED_TESTS = frozenset(("B202", "B608", "B701"))
HARMLESS_PENALTY = 25
"""Where bandit reports a milder form, such as a shell command that is a constant."""


def scan_with_bandit(fragments: Sequence[CodeFragment]) -> tuple[list[RuleHit], list[str]]:
    """Return what bandit finds in the lines that the diff adds, and the files it cannot scan."""
    profile = {"include": list_rule_codes("bandit", "security")}
    manager = BanditManager(BanditConfig(), "file", profile=profile, ignore_nosec=True)
    with TemporaryDirectory(prefix="supervise-bandit-") as folder:
        texts = ((one.file.path, one.text) for one in fragments)
        manager.files_list = list(map(str, write_sources(texts, Path(folder))))
        manager.run_tests()
    found = [
        hit
        for issue in manager.get_issue_list()
        for hit in _convert_issue(issue, fragments[get_source_index(issue.fname)])
    ]
    skipped = [fragments[get_source_index(name)].file.path for name, _ in manager.get_skipped()]
    return found, list(dict.fromkeys(skipped))


def _convert_issue(issue: Issue, fragment: CodeFragment) -> Iterator[RuleHit]:
    rule, line = find_rule("bandit", issue.test_id), fragment.find_added_line(issue.lineno)
    if rule is None or not line:
        return
    less = DOUBT_PENALTIES[issue.confidence] if issue.test_id in DOUBTED_TESTS else 0
    less += HARMLESS_PENALTY * (issue.severity == "LOW" and rule.severity != "low")
    yield RuleHit(fragment.file, line, rule, issue.test_id, penalty=less)
