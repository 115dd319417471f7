"""Which files of a team travel, and which names they may have: such that all systems can hold."""

import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from graph.teams.team_folder import NAME_PATTERN
from nodes.text.plain_text import to_one_line

MAX_LEVELS: Final = 8
MAX_PART_CHARS: Final = 100
MAX_PATH_CHARS: Final = 180
"""With the folder that it is in, Windows has 260."""
_OTHER_CHARACTERS: Final = frozenset(" !#$%&'()+,-.=@[]^_`{}~")
"""Allowed in names, beside letters, digits and marks of any script."""
_RESERVED: Final = frozenset(
    (
        *("con", "prn", "aux", "nul", "conin$", "conout$"),
        *(f"{name}{number}" for name in ("com", "lpt") for number in "0123456789¹²³"),
    )
)
"""Names of devices on Windows, with any ending."""

CACHES: Final = frozenset(("__pycache__", "__MACOSX", "node_modules"))
_OF_A_PROJECT: Final = frozenset(("studio.py", "langgraph.json", "__init__.py"))
"""Files directly in a team's folder that its runs do not use, as its tests."""
_UNASKED: Final = frozenset(("conftest.py", "sitecustomize.py", "usercustomize.py"))
_COMPILED: Final = frozenset(
    (".pyc", ".pyo", ".pyd", ".so", ".dll", ".dylib", ".exe", ".bat", ".cmd", ".class")
)
_ARCHIVES: Final = frozenset(
    (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst", ".whl", ".egg", ".jar")
)
_KEY_ENDINGS: Final = frozenset((".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx"))
_KEY_NAMES: Final = frozenset(("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials"))


def is_ignored(path: PurePosixPath) -> bool:
    """Return whether a path is hidden or a cache's: a run reads no such file of a team."""
    return any(part.startswith(".") or part in CACHES for part in path.parts)


def explain_left_out(path: PurePosixPath) -> str:
    """Return why a file is no part of a team that travels; empty for one that is."""
    name, ending = path.name.casefold(), path.suffix.casefold()
    if is_ignored(path):
        return "hidden, or a cache"
    is_of_project = name in _OF_A_PROJECT or (name.startswith("test_") and ending == ".py")
    if path.parts[0] in ("tests", "test") or (len(path.parts) == 1 and is_of_project):
        return "a run does not use it"
    if name in _UNASKED or ending == ".pth":
        return "Python runs it unasked"
    if ending in _COMPILED:
        return "a program that cannot be read"
    if ending in _ARCHIVES:
        return "an archive"
    if ending in _KEY_ENDINGS or path.stem.casefold() in _KEY_NAMES:
        return "may be a key"
    return ""


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
    if part[0] == " " or part[-1] in " ." or part.split(".")[0].casefold().strip() in _RESERVED:
        return "is no name on Windows"
    return ""


def find_clash(names: Iterable[str]) -> str:
    """Return which two paths some systems take for one, or one as file and folder; else nothing."""
    files, folders = dict[str, str](), dict[str, str]()
    for name in names:
        key = fold_name(name)
        if other := files.get(key):
            return f"{show_name(name)} and {show_name(other)} are one file on some systems"
        files[key] = name
        parts, own = key.split("/"), name.split("/")
        for end in range(1, len(parts)):
            folder, written = "/".join(parts[:end]), "/".join(own[:end])
            if folders.setdefault(folder, written) != written:
                return f"{show_name(written)} and {show_name(folders[folder])} are one folder"
    if both := files.keys() & folders.keys():
        return f"{show_name(files[min(both)])} is a file and a folder"
    return ""


def fold_name(name: str) -> str:
    """Return what is equal for names that some system takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())


def is_team_name(name: str) -> bool:
    """Return whether a team may have this name, on every system."""
    return bool(NAME_PATTERN.fullmatch(name)) and not find_name_problem(name)


def show_name(name: str) -> str:
    """Return a name as a line of a terminal may hold it."""
    return to_one_line(name, 100) or "a file without a name"
