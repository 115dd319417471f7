"""Pair the settings files that belong together, and choose which of two is the failing one."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from nodes.limits.patterns import Pattern

ENVIRONMENTS = frozenset({"staging", "stage", "testing", "test", "dev", "development", "qa", "uat"})
_REFERENCE_WORDS = ENVIRONMENTS | {
    "old",
    "before",
    "previous",
    "prev",
    "baseline",
    "good",
    "default",
    "example",
}
_FAILING_WORDS = frozenset(
    {"production", "prod", "live", "new", "after", "current", "broken", "failing"}
)
NameRank = tuple[int, tuple[int, ...], str]


def pair_configs(names: Iterable[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return pairs of names, the reference first; and the names left over.

    `staging.yaml` is the reference of `production.yaml`, `app-2.6.toml` that of `app-2.7.toml`.
    """
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(_get_family(name), []).append(name)
    found, alone = list[tuple[str, str]](), list[str]()
    for members in families.values():
        *references, subject = sorted(members, key=_rank_name)
        found += [(reference, subject) for reference in references]
        alone += [] if references else [subject]
    if len(alone) == 2 and not found:
        first, second = sorted(alone, key=_rank_name)
        return [(first, second)], []
    return found, alone


def split_words(name: str) -> list[str]:
    """Split a name into words and numbers."""
    return Pattern(r"[a-z]+|\d+").findall(name.lower())


def _get_family(name: str) -> str:
    suffix = PurePosixPath(name.lower()).suffix.replace("yml", "yaml")
    stem = name.lower().removesuffix(PurePosixPath(name.lower()).suffix)
    kept = [
        word
        for word in split_words(stem)
        if not (word in _REFERENCE_WORDS | _FAILING_WORDS or word.isdigit())
    ]
    return f"{' '.join(word for word in kept if word != 'v')}{suffix}"


def _rank_name(name: str) -> NameRank:
    parts = split_words(name)
    side = any(word in _FAILING_WORDS for word in parts) - any(
        word in _REFERENCE_WORDS for word in parts
    )
    return side, tuple(int(word) for word in parts if word.isdigit()), name
