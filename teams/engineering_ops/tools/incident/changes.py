"""Find what was changed, and when: deployments and configuration changes in the materials."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from extensions.tools.logs.entry import LogEntry
from extensions.tools.logs.secrets import mask_secrets
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line

_CHANGE_WORDS = Pattern(
    r"\bdeploy(?:ed|ment|ing)?\b|\breleas(?:e|ed|ing) (?:of |(?:\S+ )?v?\d)"
    r"|\brolled (?:out|back)\b|\brollout\b"
    r"|\bconfig(?:uration)? (?:changed?|applied|reload(?:ed)?|updated?)\b"
    r"|\bfeature flag\b",
    re.IGNORECASE,
)
MAX_DESCRIPTION_CHARS = 120


class LoggedChange(NamedTuple):
    """A deployment or another change."""

    time: datetime
    description: str
    source: str
    line: int


def find_changes(entries: Sequence[LogEntry]) -> list[LoggedChange]:
    """Return the reported changes; else the first request that a new version answers."""
    dated = [(entry.time, entry) for entry in entries if entry.time]
    told = [
        LoggedChange(time, _describe_change(entry), entry.source, entry.line)
        for time, entry in dated
        if _is_change(entry)
    ]
    return told or list(_find_new_versions(dated))


def _is_change(entry: LogEntry) -> bool:
    """Distinguish a row of a list of changes, or a line about one, from a request or an error."""
    if entry.is_request or entry.is_failing or entry.requests is not None:
        return False
    return bool(_CHANGE_WORDS.search(entry.message)) or bool(entry.version and not entry.level)


def _describe_change(entry: LogEntry) -> str:
    is_named = entry.message and entry.service in entry.message
    text = entry.message or "deployment"
    words = text if is_named else f"{text} {entry.service} {entry.version}"
    return sanitize_line(mask_secrets(words), MAX_DESCRIPTION_CHARS)


def _find_new_versions(dated: Sequence[tuple[datetime, LogEntry]]) -> Iterator[LoggedChange]:
    known: dict[str, set[str]] = {}
    for time, entry in dated:
        versions = known.setdefault(entry.service, set())
        if entry.version and versions and entry.version not in versions:
            words = sanitize_line(f"first request by {entry.service} {entry.version}", 120)
            yield LoggedChange(time, words, entry.source, entry.line)
        versions.update(filter(None, [entry.version]))
