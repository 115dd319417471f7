"""Parse a line of a log: its time, its level and its message."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from extensions.tools.logs.entry import Level, LogEntry
from extensions.tools.logs.names import NAMES
from extensions.tools.logs.timestamps import TIMESTAMP, parse_time
from nodes.limits.patterns import Pattern

HEAD_CHARS: Final = 160
"""Beginning of a line, in which its time and level are."""
_LEVEL_BY_WORD: Final[Mapping[str, Level]] = {
    word: level for level, words in NAMES["levels"].items() for word in words
}
_LEVEL = Pattern(
    rf"(?<![\w.])({'|'.join(_LEVEL_BY_WORD)})(?![\w.])"
    r"|(?:level\"?[=:] ?\"?|\[|[\dZ] "
    rf")({'|'.join(word.lower() for word in _LEVEL_BY_WORD)})(?=[\"\]: ,])"
)
_ACCESS_STATUS = Pattern(r"\" ([1-5]\d\d) (?:\d+|-)(?= |$)")
"""The status in a line of a web server's access log."""
_FAILURE_WORD = Pattern(
    r"\b(?:fail(?:ed|ure|ures|s|ing)?|errors?|fatal|panic|denied|refused|abnormally"
    r"|timed out|unable to|cannot|segfault|corrupt(?:ed)?)\b",
    re.IGNORECASE,
)
_NO_FAILURE = Pattern(r"\b(?:no|0|without) (?:errors?|failures?)\b", re.IGNORECASE)

_VARIABLE_PART = Pattern(
    r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\b[0-9a-f]{12,40}\b|'[^']{1,80}'|\"[^\"]{1,80}\""
    r"|(?<=\w=)[^\s;,]+|\([^\s()]{1,80}\)|(?:(?<![^\W_])-)?\d+(?:[.,:]\d+)*"
)


def get_level(word: str) -> Level:
    """Return the level that a word names; empty if it names none."""
    return _LEVEL_BY_WORD.get(word.upper(), "")


def parse_line(source: str, number: int, line: str) -> LogEntry | None:
    """Parse a line; None if it has neither a time nor a level."""
    head = line[:HEAD_CHARS]
    stamp, level = TIMESTAMP.search(head), _LEVEL.search(head)
    if stamp and (stamp.start() > HEAD_CHARS // 2 or not parse_time(stamp[0])):
        stamp = None
    if not stamp and not (level and _is_prefix(head[: level.start()])):
        return None
    end = max(found.end() for found in (stamp, level) if found)
    status = _ACCESS_STATUS.search(line) if '" ' in line else None
    return LogEntry(
        source,
        number,
        parse_time(stamp[0]) if stamp else None,
        stamp[0].lstrip("[") if stamp else "",
        get_level(level[1] or level[2]) if level else "",
        line[end:].strip(" \t]-:|\"',"),
        int(status[1]) if status else None,
    )


def make_template(message: str) -> str:
    """Return a message without the parts that vary between occurrences."""
    return _VARIABLE_PART.sub("#", message)[:300]


def infer_levels(entries: Sequence[LogEntry]) -> tuple[LogEntry, ...]:
    """Return the entries of a log without levels, with levels by the words of their messages."""
    return tuple(
        replace(entry, level="error" if _reports_failure(entry.message) else "info")
        if not entry.level and entry.status is None
        else entry
        for entry in entries
    )


def _is_prefix(text: str) -> bool:
    """Return whether a text before a level is a prefix such as `12 [main] api-1 |`, not prose."""
    return sum(word.isalpha() for word in text.split()) <= 1


def _reports_failure(message: str) -> bool:
    return bool(_FAILURE_WORD.search(message)) and not _NO_FAILURE.search(message)
