"""Pair the settings files that belong together, the one that works first."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from nodes.limits.patterns import Pattern

_ENVIRONMENT_WORDS = "staging stage testing test dev development qa uat"
_REFERENCE_WORDS = "old before previous prev baseline good default example"
_FAILING_WORDS = "production prod live new after current broken failing"
ENVIRONMENTS = frozenset(_ENVIRONMENT_WORDS.split())
_REFERENCE = ENVIRONMENTS | set(_REFERENCE_WORDS.split())
_FAILING = frozenset(_FAILING_WORDS.split())


def pair_configs(names: Iterable[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return pairs of names, the reference first; and the names left over.

    `staging.yaml` is the reference of `production.yaml`, `app-2.6.toml` that of `app-2.7.toml`.
    """
    families: dict[str, list[str]] = {}
    for name in sorted(names, key=_rank_name):
        families.setdefault(_get_family(name), []).append(name)
    found = [(old, new) for *olds, new in families.values() for old in olds]
    alone = [members[0] for members in families.values() if len(members) == 1]
    if len(alone) == 2 and not found:
        return [(alone[0], alone[1])], []
    return found, alone


def split_words(name: str) -> list[str]:
    """Split a name into words and numbers."""
    return Pattern(r"[a-z]+|\d+").findall(name.lower())


def _get_family(name: str) -> str:
    path = PurePosixPath(name.lower().replace(".yml", ".yaml"))
    words = set(split_words(str(path.with_suffix("")))) - _REFERENCE - _FAILING - {"v"}
    return f"{' '.join(sorted(word for word in words if not word.isdigit()))}{path.suffix}"


def _rank_name(name: str) -> tuple[int, tuple[int, ...], str]:
    parts = split_words(name)
    side = (not _FAILING.isdisjoint(parts)) - (not _REFERENCE.isdisjoint(parts))
    return side, tuple(int(word) for word in parts if word.isdigit()), name
