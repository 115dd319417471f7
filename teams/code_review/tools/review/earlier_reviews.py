"""Find what other materials, such as comments of earlier reviews, say of the changed files."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import format_as_code, sanitize_line

from .diff import ParsedDiff

MAX_REMARKS = 20
MAX_REMARK_CHARS = 240
NO_REPOSITORY_GAP = "The history was not looked at: no repository is set (SUPERVISE_REPOSITORY)"


def list_earlier_remarks(change: ParsedDiff, prose: Mapping[str, str]) -> list[str]:
    """Return the lines of prose that name a changed file, each with its place."""
    if not prose or not change.files:
        return []
    names = {file.path for file in change.files}
    names |= {PurePosixPath(name).name for name in names}
    wanted = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    named = Pattern(rf"(?<![\w.-])(?:{wanted})(?![\w-])")
    found = [
        f"- {format_as_code(name)}, line {number}: “{sanitize_line(line, MAX_REMARK_CHARS)}”"
        for name, text in prose.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if named.search(line)
    ]
    more = len(found) - MAX_REMARKS
    head = ["Other materials name the changed files:"] * bool(found)
    return [*head, *found[:MAX_REMARKS], *([f"- and {more} more lines"] if more > 0 else [])]
