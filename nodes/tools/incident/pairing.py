"""Which files of settings belong together, and which of two is the one that fails."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from nodes.limits.patterns import Pattern

ENVIRONMENTS = frozenset({"staging", "stage", "testing", "test", "dev", "development", "qa", "uat"})
_GOOD = ENVIRONMENTS | {
    "old",
    "before",
    "previous",
    "prev",
    "baseline",
    "good",
    "default",
    "example",
}
_BAD = frozenset({"production", "prod", "live", "new", "after", "current", "broken", "failing"})
Ranked = tuple[int, tuple[int, ...], str]


def pairs(names: Iterable[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Pair names, the reference first; those left over are given too.

    `staging.yaml` is the reference of `production.yaml`, `app-2.6.toml` that of `app-2.7.toml`.
    """
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(_family(name), []).append(name)
    found, alone = list[tuple[str, str]](), list[str]()
    for members in families.values():
        *references, subject = sorted(members, key=_rank)
        found += [(reference, subject) for reference in references]
        alone += [] if references else [subject]
    if len(alone) == 2 and not found:
        first, second = sorted(alone, key=_rank)
        return [(first, second)], []
    return found, alone


def words(name: str) -> list[str]:
    """Part a name into words and numbers."""
    return Pattern(r"[a-z]+|\d+").findall(name.lower())


def _family(name: str) -> str:
    suffix = PurePosixPath(name.lower()).suffix.replace("yml", "yaml")
    stem = name.lower().removesuffix(PurePosixPath(name.lower()).suffix)
    kept = [word for word in words(stem) if not (word in _GOOD | _BAD or word.isdigit())]
    return f"{' '.join(word for word in kept if word != 'v')}{suffix}"


def _rank(name: str) -> Ranked:
    parts = words(name)
    side = any(word in _BAD for word in parts) - any(word in _GOOD for word in parts)
    return side, tuple(int(word) for word in parts if word.isdigit()), name
