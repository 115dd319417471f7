"""Find security holes and secrets that a diff has introduced, by bandit and detect-secrets.

Bandit's `nosec` comments are ignored: an attacker who wants to hide a hole would write one. The
online checks of a secret with its issuer are never called, and findings never contain the secret.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bandit.core.config import BanditConfig  # type: ignore[import-untyped]
from bandit.core.issue import Issue  # type: ignore[import-untyped]
from bandit.core.manager import BanditManager  # type: ignore[import-untyped]
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.filters.heuristic import is_sequential_string, is_templated_secret
from detect_secrets.plugins.base import BasePlugin
from detect_secrets.plugins.high_entropy_strings import (
    Base64HighEntropyString,
    HexHighEntropyString,
)
from detect_secrets.plugins.keyword import REGEX_BY_FILETYPE, KeywordDetector
from detect_secrets.util.filetype import determine_file_type

from extensions.tools.linting.ruff_process import get_source_index, write_sources
from extensions.tools.linting.rules import find_rule, list_rule_codes
from nodes.limits.patterns import Pattern

from .diff import ChangedFile
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


MAX_PART_CHARS = 2_000
"""Longer lines are searched in parts: the library's expressions have no limit of time."""
PART_OVERLAP_CHARS = 200
PLACEHOLDER_PENALTY = 40
RANDOM_SECRET = "Secret Keyword and entropy"

_KEY_LINE = Pattern(r"[A-Za-z0-9+/=]{40}|^\W*(?:Proc-Type|DEK-Info|Encryption):")
"""In or after a private key's first line; code that only searches for keys has none."""
_PLACEHOLDER = Pattern(
    r"example|placeholder|change.?me|dummy|fake|sample|redacted|your[-_ ]|insert|<|>|\*{3}|x{4}"
    r"|\.\.\.|\$\{|%\(|^[{%$].*|secret$|abc123|123456"
    r"|^(?:pass(?:word|wd)?|guest|test|root|admin|foo|bar|postgres|user)\d*$",
    re.IGNORECASE,
)


def find_secrets(files: Iterable[ChangedFile]) -> list[RuleHit]:
    """Find secrets in the lines that the diff adds to any file."""
    return [
        hit
        for file in files
        for number, line in file.added.items()
        for start in range(0, len(line), MAX_PART_CHARS - PART_OVERLAP_CHARS)
        for hit in _build_hits(file, number, line[start : start + MAX_PART_CHARS])
    ]


def _build_hits(file: ChangedFile, number: int, line: str) -> Iterator[RuleHit]:
    for kind, secrets in _detect_secrets(file.path, line).items():
        rule = find_rule("detect-secrets", kind)
        if rule is None or not secrets:
            continue
        is_doubtful = all(map(_is_placeholder, secrets))
        if kind == "Private Key":
            following = file.added.get(number + 1, "")
            is_doubtful = not (_KEY_LINE.search(line) or _KEY_LINE.search(following))
        yield RuleHit(file, number, rule, kind, penalty=PLACEHOLDER_PENALTY * is_doubtful)


def _detect_secrets(path: str, line: str) -> Mapping[str, list[str]]:
    found = {
        plugin.secret_type: [secret for secret in plugin.analyze_string(line) if secret]
        for plugin in _build_detectors()
    }
    if any(found.values()):
        return found
    groups = REGEX_BY_FILETYPE.get(determine_file_type(path))
    named = KeywordDetector().analyze_string(line, groups)
    return {RANDOM_SECRET: [s for s in named if _is_random(s) and not is_templated_secret(s)]}


def _is_random(secret: str) -> bool:
    """Return whether it is a generated secret, not words: by entropy and digits among letters."""
    plugins: tuple[BasePlugin, ...] = (Base64HighEntropyString(), HexHighEntropyString())
    is_mixed = any(c.isdigit() for c in secret) and any(c.isalpha() for c in secret)
    return is_mixed and any(plugin.analyze_line("", f'"{secret}"') for plugin in plugins)


def _is_placeholder(secret: str) -> bool:
    return _PLACEHOLDER.search(secret) is not None or is_sequential_string(secret)


@cache
def _build_detectors() -> tuple[BasePlugin, ...]:
    """Build the detectors of secrets with a known format."""
    classes: Mapping[str, type[Any]] = get_mapping_from_secret_type_to_class()
    wanted = list_rule_codes("detect-secrets", "security")
    return tuple(classes[kind]() for kind in wanted if kind in classes)
