"""Find what was changed, and when: deployments and configuration changes in the materials."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.logs.entry import LogEntry
from nodes.tools.logs.secrets import mask_secrets

_CHANGE_WORDS = Pattern(
    r"\bdeploy(?:ed|ment|ing)?\b|\breleas(?:e|ed|ing) (?:of |(?:\S+ )?v?\d)"
    r"|\brolled (?:out|back)\b|\brollout\b"
    r"|\bconfig(?:uration)? (?:changed?|applied|reload(?:ed)?|updated?)\b"
    r"|\bfeature flag\b",
    re.IGNORECASE,
)
MAX_DESCRIPTION_CHARS = 120


@dataclass(frozen=True)
class LoggedChange:
    """A deployment or another change."""

    time: datetime
    description: str
    source: str
    line: int


def find_changes(entries: Sequence[LogEntry]) -> list[LoggedChange]:
    """Return the reported changes; else the first request that a new version answers."""
    told = [_build_change(entry) for entry in entries if entry.time and _is_change(entry)]
    return [change for change in told if change] or _find_new_versions(entries)


def _is_change(entry: LogEntry) -> bool:
    """Distinguish a row of a list of changes, or a line about one, from a request or an error."""
    if entry.is_request or entry.is_failing or entry.requests is not None:
        return False
    return bool(_CHANGE_WORDS.search(entry.message)) or bool(entry.version and not entry.level)


def _build_change(entry: LogEntry) -> LoggedChange | None:
    if entry.time is None:
        return None
    is_named = entry.message and entry.service in entry.message
    words = [entry.message or "deployment", *([] if is_named else [entry.service, entry.version])]
    return LoggedChange(
        entry.time,
        sanitize_line(mask_secrets(" ".join(words)), MAX_DESCRIPTION_CHARS),
        entry.source,
        entry.line,
    )


def _find_new_versions(entries: Sequence[LogEntry]) -> list[LoggedChange]:
    seen, found = dict[str, set[str]](), list[LoggedChange]()
    for entry in entries:
        if not entry.version or entry.time is None:
            continue
        known = seen.setdefault(entry.service, set())
        if known and entry.version not in known:
            words = f"first request by {entry.service} {entry.version}".replace("  ", " ")
            found.append(LoggedChange(entry.time, words, entry.source, entry.line))
        known.add(entry.version)
    return found


def find_last_before(found: Sequence[LoggedChange], moment: datetime) -> LoggedChange | None:
    """Return the last change before a time; None if there is none."""
    before = [change for change in found if change.time <= moment]
    return max(before, key=lambda change: change.time, default=None)
