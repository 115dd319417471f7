"""Find the imports that a fragment needs: rules identify a function by its module."""

from collections.abc import Sequence

from nodes.limits.patterns import Pattern

from .diff import ChangedFile

MAX_IMPORTS = 60
COMMON_MODULES = (
    *("asyncio", "contextlib", "copy", "dataclasses", "datetime", "decimal", "functools"),
    *("hashlib", "httpx", "itertools", "json", "logging", "math", "os", "pickle", "random", "re"),
    *("requests", "shutil", "ssl", "subprocess", "sys", "tarfile", "tempfile", "threading"),
    *("time", "urllib", "warnings", "yaml"),
)
"""Assumed to be imported if a name of theirs is used and nothing else has that name."""

_IMPORT_LINE = Pattern(r"(?:import [\w., ]+|from (?!__future__)[\w.]+ import [\w, ]+)")
_MODULE_USE = Pattern(rf"(?<![\w.])({'|'.join(COMMON_MODULES)})\.[a-z]")


def list_imports(file: ChangedFile) -> list[str]:
    """Return the imports of the module that the diff shows, one per line."""
    lines = (line.rstrip() for hunk in file.hunks for line in hunk.lines)
    return list(dict.fromkeys(line for line in lines if _IMPORT_LINE.fullmatch(line)))[:MAX_IMPORTS]


def guess_imports(lines: Sequence[str]) -> list[str]:
    """Return imports of common modules, guessed from their use."""
    text = "\n".join(lines)
    used = sorted(set(_MODULE_USE.findall(text)))
    return [f"import {name}" for name in used if not _is_bound(name, text)]


def _is_bound(name: str, text: str) -> bool:
    """Return whether a name is a variable or parameter, not a module."""
    forms = (
        rf"(?<![\w.]){name}\s*=(?!=)",
        rf"\b(?:for|as) {name}\b",
        rf"\bdef [^\n]*[(, ]{name}\b",
    )
    return Pattern("|".join(forms)).search(text) is not None
