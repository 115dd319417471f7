"""Compare two settings files; secrets are reported as different or equal, never shown."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from extensions.tools.logs.secrets import is_secret_name, looks_secret
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import format_as_code, sanitize_line

from .settings_file import SettingsFile, SettingValue

if TYPE_CHECKING:
    from state import Severity

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


SECRET_MASK = "[secret]"
MAX_VALUE_CHARS = 80
MIN_NUMBER_FACTOR = 5.0
"""From this ratio on a different number is worth a look by itself."""
SEVERITY_ORDER: tuple["Severity", ...] = ("critical", "high", "medium", "low", "info")

_LIMIT_NAME = Pattern(r"(?:_s|_ms|ttl|timeout|max|min|limit|length|enabled)$")
_COUNT_NAME, _COUNT = Pattern(r"tokens$"), Pattern(r"\d{1,9}")
_HEX = Pattern(r"[0-9a-fA-F]{32,}")
_KEY_LIKE = Pattern(r"\A(?=\D*+\d)(?=[^A-Za-z]*+[A-Za-z])[^\s:@,;.]{20,}")
MIN_ENTROPY = 4.0
_LOCATION_KEY = Pattern(
    r"(?:^|[._])(?:host|hostname|url|uri|endpoint|domain|region|zone|environment|env|bucket|name"
    r"|namespace|cluster|image|replicas|dsn|address)(?:$|[._\[])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Difference:
    """A setting that differs between two files."""

    key: str
    old: str
    new: str
    description: str
    severity: "Severity"
    is_suspect: bool = False


def list_differences(
    old: SettingsFile, new: SettingsFile, suspects: Collection[str]
) -> list[Difference]:
    """Return the differences, the most severe first; `suspects` are settings others have named."""
    found = []
    for key in dict.fromkeys([*new.values, *old.values]):
        first, second = ((key in file.values, file.values.get(key)) for file in (old, new))
        if first == second and type(first[1]) is type(second[1]):
            continue
        secret = any(is_secret(key, value) for _, value in (first, second))
        what, severity = _rate_difference(key, old, new, secret)
        suspect = any(is_named(key, name) for name in suspects)
        # A host or a secret is expected to differ: a finding that names it makes it no cause.
        severity = "high" if suspect and severity != "info" else severity
        before, after = _format_value(*first, secret), _format_value(*second, secret)
        found.append(Difference(key, before, after, what, severity, suspect))
    return sorted(found, key=lambda one: SEVERITY_ORDER.index(one.severity))


def is_named(key: str, name: str) -> bool:
    """Return whether a name is that of a setting, by its whole path or its end."""
    bare, wanted = (
        Pattern(r"[^a-z0-9]+").sub("_", each.lower()).strip("_") for each in (key, name)
    )
    return f"_{bare}".endswith(f"_{wanted}")


def is_secret(key: str, value: SettingValue) -> bool:
    """Return whether it must not be shown: by the setting's name, or by the form of its value."""
    bare = key.lower()
    is_count = _COUNT_NAME.search(bare) and _COUNT.fullmatch(str(value))
    has_secret_name = is_secret_name(key) and not (_LIMIT_NAME.search(bare) or is_count)
    if not isinstance(value, str):
        return has_secret_name and isinstance(value, int)
    return bool(value) and bool(
        has_secret_name
        or looks_secret(value)
        or _HEX.fullmatch(value)
        or (_KEY_LIKE.fullmatch(value) and _compute_entropy(value) > MIN_ENTROPY)
    )


def _compute_entropy(value: str) -> float:
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)


def _rate_difference(
    key: str, old: SettingsFile, new: SettingsFile, secret: bool
) -> tuple[str, "Severity"]:
    if key not in new.values:
        added = [name for name in new.values if name not in old.values]
        near = get_close_matches(key, added, 1, 0.85)
        hint = f" (perhaps misspelt: it has {format_as_code(near[0])})" if near else ""
        return f"is missing in {new.name}{hint}", "medium"
    if key not in old.values:
        return f"is in {new.name} only", "low"
    first, second = old.values[key], new.values[key]
    if secret:
        is_empty = second in ("", None) and first not in ("", None)
        return ("is empty", "medium") if is_empty else ("differs, as secrets should", "info")
    if isinstance(first, bool) and isinstance(second, bool):
        return f"is switched {'on' if second else 'off'}", "medium"
    kinds = {str if isinstance(each, str) else type(each) for each in (first, second)}
    if len(kinds - {int, float}) and len(kinds) > 1:
        return "is of another kind", "medium"
    others = ENVIRONMENTS.intersection(split_words(old.name)).difference(split_words(new.name))
    if foreign := next((word for word in split_words(str(second)) if word in others), ""):
        return f"names {foreign}", "medium"
    return _rate_sizes(first, second, "info" if _LOCATION_KEY.search(key) else "low")


def _rate_sizes(
    first: SettingValue, second: SettingValue, usual: "Severity"
) -> tuple[str, "Severity"]:
    try:
        low, high = sorted(abs(float(str(each))) for each in (first, second))
    except ValueError:
        return "differs", usual
    if low and high / low < MIN_NUMBER_FACTOR:
        return "differs", usual
    factor = f"{high / low:.3g} times" if low else "from or to zero"
    return f"differs much, {factor}", "info" if usual == "info" else "medium"


def _format_value(is_set: bool, value: SettingValue, secret: bool) -> str:
    if not is_set:
        return "not set"
    if value is None or value == "":
        return "empty"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return SECRET_MASK if secret else format_as_code(sanitize_line(text, MAX_VALUE_CHARS))
