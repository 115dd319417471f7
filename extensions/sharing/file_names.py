"""Which files of a team travel, and which names they may have: such that all systems can hold."""

import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from graph.teams.team_folder import NAME_PATTERN
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import to_one_line

MAX_LEVELS, MAX_PART_CHARS, MAX_PATH_CHARS = 8, 100, 180
"""With the folder that it is in, a path of Windows has 260."""
_OTHER_CHARACTERS: Final = frozenset(" !#$%&'()+,-.=@[]^_`{}~")
"""Allowed in names, beside letters, digits and marks of any script."""
_RESERVED: Final = Pattern(r"(?i)con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]")
"""Names of devices on Windows, with any ending."""

_CACHES: Final = frozenset(("__pycache__", "__MACOSX", "node_modules"))
_UNUSED: Final = frozenset(("studio.py", "langgraph.json", "__init__.py", "tests", "test"))
"""What is directly in a team's folder, and its runs do not use."""
_LEFT_OUT: Final[Mapping[str, str]] = {
    word: reason
    for reason, words in {
        "Python runs it unasked": "conftest.py sitecustomize.py usercustomize.py .pth",
        "a program that cannot be read": ".pyc .pyo .pyd .pyw .so .dll .dylib .exe .bat .cmd",
        "an archive": ".zip .tar .gz .tgz .bz2 .xz .7z .rar .zst .whl .egg .jar",
        "may be a key": ".pem .key .p12 .pfx .jks .keystore .kdbx id_rsa id_dsa id_ecdsa"
        " id_ed25519 credentials",
    }.items()
    for word in words.split()
}
"""Why files of a name, with or without its ending, or of an ending do not travel."""


def is_ignored(path: PurePosixPath) -> bool:
    """Return whether a path is hidden or a cache's: a run reads no such file of a team."""
    return any(part.startswith(".") or part in _CACHES for part in path.parts)


def explain_left_out(path: PurePosixPath) -> str:
    """Return why a file is no part of a team that travels; empty for one that is."""
    name, first = path.name.casefold(), path.parts[0].casefold()
    if is_ignored(path):
        return "hidden, or a cache"
    is_test = first == name and name.startswith("test_") and name.endswith(".py")
    if is_test or (first in _UNUSED and (first == name or "." not in first)):
        return "a run does not use it"
    words = (name, path.stem.casefold(), path.suffix.casefold())
    return next((_LEFT_OUT[word] for word in words if word in _LEFT_OUT), "")


def find_name_problem(name: str) -> str:
    """Return why a path, with `/` between its parts, cannot be that of a file; empty if it can."""
    parts = name.split("/")
    if len(name) > MAX_PATH_CHARS or len(parts) > MAX_LEVELS:
        return f"is longer than {MAX_PATH_CHARS} characters, or deeper than {MAX_LEVELS} folders"
    if name.startswith(("/", "~")) or "\\" in name or ":" in name or {"..", "."} & set(parts):
        return "leads out of the folder"
    return next((problem for part in parts if (problem := _find_part_problem(part))), "")


def _find_part_problem(part: str) -> str:
    if not part or len(part) > MAX_PART_CHARS:
        return "has a part that is empty or too long"
    if part != unicodedata.normalize("NFC", part):
        return "is not in the Unicode form NFC"
    if any(not (unicodedata.category(c)[0] in "LNM" or c in _OTHER_CHARACTERS) for c in part):
        return "has a character that names may not have"
    if part[0] == " " or part[-1] in " ." or _RESERVED.fullmatch(part.split(".")[0].strip()):
        return "is no name on Windows"
    return ""


def find_clash(names: Iterable[str]) -> str:
    """Return which two paths some system takes for one, or one as file and folder; else nothing."""
    seen = dict[str, str]()
    for name in names:
        parts = name.split("/")
        for end in range(1, len(parts) + 1):
            path = "/".join(parts[:end]) + "/" * (end < len(parts))
            folded = unicodedata.normalize("NFKC", path.rstrip("/")).casefold()
            other = seen.setdefault(unicodedata.normalize("NFC", folded), path)
            if other != path:
                return f"{show_name(other)} and {show_name(path)} are one on some systems"
    return ""


def is_team_name(name: str) -> bool:
    """Return whether a team may have this name, on every system."""
    return bool(NAME_PATTERN.fullmatch(name)) and not find_name_problem(name)


def show_name(name: str) -> str:
    """Return a name as a line of a terminal may hold it."""
    return to_one_line(name, 100) or "a file without a name"
