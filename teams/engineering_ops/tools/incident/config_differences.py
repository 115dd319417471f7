"""Compare two settings files; secrets are reported as different or equal, never shown."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.logs.secrets import is_secret_name, looks_secret

from .config_pairs import ENVIRONMENTS, split_words
from .settings_file import SettingsFile, SettingValue

if TYPE_CHECKING:
    from state import Severity

SECRET_MASK = "[secret]"
MAX_VALUE_CHARS = 80
MIN_NUMBER_FACTOR = 5.0
"""From this ratio on a different number is worth a look by itself."""
SEVERITY_ORDER: tuple["Severity", ...] = ("critical", "high", "medium", "low", "info")

_HEX = Pattern(r"[0-9a-fA-F]{32,}")
_WHOLE_NUMBER = Pattern(r"\d{1,9}")
_LOCATION_KEY = Pattern(
    r"(?:^|[._])(?:host|hostname|url|uri|endpoint|domain|region|zone|environment|env|bucket|name"
    r"|namespace|cluster|image|replicas|dsn|address)(?:$|[._\[])",
    re.IGNORECASE,
)
MIN_RANDOM_CHARS, MIN_ENTROPY = 20, 4.0


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
    wanted = {normalize_key(name) for name in suspects}
    keys = list(dict.fromkeys([*new.values, *old.values]))
    found = [
        _build_difference(key, old, new, is_suspect(key, wanted))
        for key in keys
        if not _is_alike(key, old, new)
    ]
    return sorted(found, key=lambda one: SEVERITY_ORDER.index(one.severity))


def is_suspect(key: str, wanted: Collection[str]) -> bool:
    """Return whether a setting is one of those named, by its whole path or its end."""
    bare = normalize_key(key)
    return any(bare == name or bare.endswith(f"_{name}") for name in wanted)


def normalize_key(key: str) -> str:
    """Normalize `gateway.timeout_s` and `GATEWAY_TIMEOUT_S` to one form."""
    return Pattern(r"[^a-z0-9]+").sub("_", key.lower()).strip("_")


def is_secret(key: str, value: SettingValue) -> bool:
    """Return whether it must not be shown: by the setting's name, or by the form of its value."""
    is_named = is_secret_name(key) and not _is_limit(key, value)
    if not isinstance(value, str):
        return is_named and isinstance(value, int)
    if not value:
        return False
    return is_named or looks_secret(value) or bool(_HEX.fullmatch(value)) or _is_random(value)


def _is_limit(key: str, value: SettingValue) -> bool:
    """Return whether it is a limit on secrets, or a number of them, rather than a secret."""
    bare = key.lower()
    if Pattern(r"(?:_s|_ms|ttl|timeout|max|min|limit|length|enabled)$").search(bare):
        return True
    return bare.endswith("tokens") and bool(_WHOLE_NUMBER.fullmatch(str(value)))


def _is_random(value: str) -> bool:
    is_mixed = bool(Pattern(r"\d").search(value)) and bool(Pattern(r"[A-Za-z]").search(value))
    if len(value) < MIN_RANDOM_CHARS or not is_mixed or Pattern(r"[\s:@,;.]").search(value):
        return False
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares) > MIN_ENTROPY


def _is_alike(key: str, old: SettingsFile, new: SettingsFile) -> bool:
    if key not in old.values or key not in new.values:
        return False
    first, second = old.values[key], new.values[key]
    return type(first) is type(second) and first == second


def _build_difference(key: str, old: SettingsFile, new: SettingsFile, suspect: bool) -> Difference:
    secret = any(is_secret(key, file.values.get(key)) for file in (old, new))
    shown = [_format_value(key, file, secret) for file in (old, new)]
    what, severity = _rate_difference(key, old, new, secret)
    # A host or a secret is expected to differ: a finding that names it does not make it a cause.
    if suspect and severity != "info":
        severity = "high"
    return Difference(key, shown[0], shown[1], what, severity, suspect)


def _rate_difference(
    key: str, old: SettingsFile, new: SettingsFile, secret: bool
) -> tuple[str, "Severity"]:
    if key not in new.values:
        near = _suggest_misspelling(key, new, old)
        return f"is missing in {new.name}{near}", "medium"
    if key not in old.values:
        return f"is in {new.name} only", "low"
    first, second = old.values[key], new.values[key]
    if secret:
        is_empty = second in ("", None) and first not in ("", None)
        return ("is empty", "medium") if is_empty else ("differs, as secrets should", "info")
    if isinstance(first, bool) and isinstance(second, bool):
        return "is switched " + ("on" if second else "off"), "medium"
    if isinstance(first, bool | None) or isinstance(second, bool | None):
        return "is of another kind", "medium"
    if isinstance(first, str) != isinstance(second, str):
        return "is of another kind", "medium"
    if foreign := find_foreign_environment(second, old.name, new.name):
        return f"names {foreign}", "medium"
    return _rate_by_size(key, first, second)


def find_foreign_environment(value: SettingValue, old_name: str, new_name: str) -> str:
    """Return the word for another environment that a value contains; empty if there is none."""
    others = set(split_words(old_name)) & ENVIRONMENTS - set(split_words(new_name))
    return next((word for word in split_words(str(value)) if word in others), "")


def _rate_by_size(key: str, first: SettingValue, second: SettingValue) -> tuple[str, "Severity"]:
    numbers = [_parse_number(value) for value in (first, second)]
    if None in numbers:
        return "differs", "info" if _LOCATION_KEY.search(key) else "low"
    low, high = sorted(abs(number) for number in numbers if number is not None)
    if low == 0 or high / low >= MIN_NUMBER_FACTOR:
        factor = f"{high / low:.3g} times" if low else "from or to zero"
        is_usual = _LOCATION_KEY.search(key) is not None
        return f"differs much, {factor}", "info" if is_usual else "medium"
    return "differs", "info" if _LOCATION_KEY.search(key) else "low"


def _parse_number(value: SettingValue) -> float | None:
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def _suggest_misspelling(key: str, new: SettingsFile, old: SettingsFile) -> str:
    only_new = [name for name in new.values if name not in old.values]
    close = get_close_matches(key, only_new, 1, 0.85)
    return f" (perhaps misspelt: it has {format_as_code(close[0])})" if close else ""


def _format_value(key: str, file: SettingsFile, secret: bool) -> str:
    if key not in file.values:
        return "not set"
    value = file.values[key]
    if value is None or value == "":
        return "empty"
    if secret:
        return SECRET_MASK
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return format_as_code(sanitize_line(text, MAX_VALUE_CHARS))


def holds_secret(text: str, file: SettingsFile) -> bool:
    """Return whether a text contains a secret of the file; it is then not quoted."""
    return any(str(value) in text for key, value in file.values.items() if is_secret(key, value))


def find_named_settings(texts: Sequence[str]) -> list[str]:
    """Return what is in backticks and may name a setting."""
    found = [
        word for text in texts for word in Pattern(r"`([A-Za-z_][\w.\-]{1,120})`").findall(text)
    ]
    return list(dict.fromkeys(found))
