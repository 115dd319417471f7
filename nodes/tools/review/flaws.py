"""Bandit over fragments: known ways to write code that can be attacked.

Its `nosec` comments are not obeyed: whoever wants a hole overlooked would write one.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from bandit.core.config import BanditConfig  # type: ignore[import-untyped]
from bandit.core.issue import Issue  # type: ignore[import-untyped]
from bandit.core.manager import BanditManager  # type: ignore[import-untyped]

from nodes.tools.review.hits import Hit
from nodes.tools.review.linting import Source, written
from nodes.tools.review.rules import codes, rule_of

LESS_FOR_DOUBT = {"HIGH": 0, "MEDIUM": 5, "LOW": 20}
"""By bandit's own confidence, for those of its tests that give more than one."""
DOUBTING = frozenset(("B202", "B608", "B701"))
LESS_FOR_HARMLESS = 25
"""Where bandit sees a milder form, such as a shell command that is a constant."""


def hits(sources: Sequence[Source], folder: Path) -> tuple[list[Hit], list[str]]:
    """Scan the sources in a folder of their own, and keep what the diff has brought about.

    Returns:
        The hits, and the names of the files that could not be scanned.
    """
    profile = {"include": codes("bandit", "security")}
    manager = BanditManager(BanditConfig(), "file", profile=profile, ignore_nosec=True)
    manager.files_list = [str(path) for path in written(sources, folder)]
    manager.run_tests()
    found = [hit for issue in manager.get_issue_list() for hit in _hits(issue, sources)]
    skipped = [_source(name, sources).file.path for name, _ in manager.get_skipped()]
    return found, list(dict.fromkeys(skipped))


def _hits(issue: Issue, sources: Sequence[Source]) -> Iterator[Hit]:
    rule = rule_of("bandit", issue.test_id)
    source = _source(issue.fname, sources)
    line = source.added_line(issue.lineno)
    if rule is None or not line:
        return
    less = LESS_FOR_DOUBT[issue.confidence] if issue.test_id in DOUBTING else 0
    less += LESS_FOR_HARMLESS * (issue.severity == "LOW" and rule.severity != "low")
    yield Hit(source.file, line, rule, issue.test_id, less=less)


def _source(name: str, sources: Sequence[Source]) -> Source:
    """Return the source that was written to a file of this name."""
    return sources[int(Path(name).stem[1:])]
