"""What was changed, and when: deployments and configuration, as the materials tell of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from nodes.limits.patterns import Pattern
from nodes.tools.incident.logs import Entry
from nodes.tools.plain_text import plain_line
from nodes.tools.secrets import masked

_CHANGE = Pattern(
    r"\bdeploy(?:ed|ment|ing)?\b|\breleas(?:e|ed|ing) (?:of |(?:\S+ )?v?\d)"
    r"|\brolled (?:out|back)\b|\brollout\b"
    r"|\bconfig(?:uration)? (?:changed?|applied|reload(?:ed)?|updated?)\b"
    r"|\bfeature flag\b",
    re.IGNORECASE,
)
MAX_WORDS = 120


@dataclass(frozen=True)
class Change:
    """A deployment or the like."""

    time: datetime
    what: str
    source: str
    line: int


def changes(entries: Sequence[Entry]) -> list[Change]:
    """Find what is told as a change; else the first request that a new version answers."""
    told = [_told(entry) for entry in entries if entry.time and _is_change(entry)]
    return [change for change in told if change] or _new_versions(entries)


def _is_change(entry: Entry) -> bool:
    """Tell a row of a list of changes, or a line that speaks of one, from a request or an error."""
    if entry.is_request or entry.is_failing or entry.requests is not None or entry.trace:
        return False
    return bool(_CHANGE.search(entry.message)) or bool(entry.version and not entry.level)


def _told(entry: Entry) -> Change | None:
    if entry.time is None:
        return None
    is_named = entry.message and entry.service in entry.message
    words = [entry.message or "deployment", *([] if is_named else [entry.service, entry.version])]
    return Change(
        entry.time, plain_line(masked(" ".join(words)), MAX_WORDS), entry.source, entry.line
    )


def _new_versions(entries: Sequence[Entry]) -> list[Change]:
    seen, found = dict[str, set[str]](), list[Change]()
    for entry in entries:
        if not entry.version or entry.time is None:
            continue
        known = seen.setdefault(entry.service, set())
        if known and entry.version not in known:
            words = f"first request by {entry.service} {entry.version}".replace("  ", " ")
            found.append(Change(entry.time, words, entry.source, entry.line))
        known.add(entry.version)
    return found


def last_before(found: Sequence[Change], moment: datetime) -> Change | None:
    """Name the last change before a moment; None where none was."""
    before = [change for change in found if change.time <= moment]
    return max(before, key=lambda change: change.time, default=None)
