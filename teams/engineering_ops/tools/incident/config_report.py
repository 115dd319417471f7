"""Compare settings files; secrets are reported as different or equal, never shown."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Any

from extensions.tools.logs.secrets import is_secret_name, looks_secret
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import (
    SEVERITIES,
    Severity,
    ToolReport,
    fit_to_size,
    join_names,
)

from .settings_file import SettingsFile, SettingValue, read_settings
from .sources import sort_materials

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
    severity: Severity
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
    return sorted(found, key=lambda one: SEVERITIES.index(one.severity))


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
) -> tuple[str, Severity]:
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


def _rate_sizes(first: SettingValue, second: SettingValue, usual: Severity) -> tuple[str, Severity]:
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


SHOWN_COUNTS = (60, 25, 8)
MAX_FINDINGS = 12
MAX_KEY_CHARS = 100
_NAMED_SETTING = Pattern(r"`([A-Za-z_][\w.\-]{1,120})`")
HUMAN_GAP = (
    "Whether a difference is meant is for a human to judge; what is not in these files, such as "
    "variables set at start, was not compared."
)


def compare_configs(
    messages: list[str], files: list[str], materials: dict[str, str]
) -> dict[str, Any]:
    """Return the differences of the named files, or of those that their names pair.

    Args:
        messages: of findings; the settings that they name are checked first.

    Raises:
        ToolRefused: there are no two files to compare, or one cannot be read.
    """
    given = sort_materials(materials)["configuration"] | {name: materials[name] for name in files}
    found, alone = ([(files[0], files[1])], list[str]()) if files else pair_configs(given)
    if not found:
        held = f"only {join_names(alone)} is there" if alone else "there is none"
        raise ToolRefused(
            f"two configurations are needed to compare, {held}; attach that of an environment or a "
            "version that works, and that of the one that fails (on the command line: --file)"
        )
    read = {name: read_settings(name, given[name]) for pair in found for name in pair}
    keys = {key for file in read.values() for key in file.values}
    named = dict.fromkeys(name for text in messages for name in _NAMED_SETTING.findall(text))
    suspects = [name for name in named if any(is_named(key, name) for key in keys)]
    left = [f"Not compared, without a counterpart: {join_names(alone)}."] * bool(alone)
    return fit_to_size(lambda size: _build_report(found, read, suspects, left, size), SHOWN_COUNTS)


def _build_report(
    found: Sequence[tuple[str, str]],
    files: Mapping[str, SettingsFile],
    suspects: Sequence[str],
    gaps: Sequence[str],
    size: int,
) -> ToolReport:
    reply = ToolReport(gaps=[*gaps])
    for old, new in found:
        _add_comparison(files[old], files[new], suspects, size, reply)
    reply.gaps.append(HUMAN_GAP)
    return reply


def _add_comparison(
    old: SettingsFile, new: SettingsFile, suspects: Sequence[str], size: int, reply: ToolReport
) -> None:
    unlike = list_differences(old, new, suspects)
    same = len(old.values.keys() & new.values.keys() - {one.key for one in unlike})
    told = [
        f"{new.name} differs from {old.name} in {format_count(len(unlike), 'setting')}; {same:,} "
        "are alike."
    ]
    told += [
        f"`{name}`, which a finding names, is the same in {old.name} and {new.name}."
        for name in suspects
        if not any(is_named(one.key, name) for one in unlike)
    ]
    reply.lines += [f"**{told[0]}**\n", *(f"- {text}" for text in told[1:])]
    for text in told:
        reply.add_claim(text, new.name)
    if unlike:
        rows = [(_format_key(one), one.old, one.new, _describe(one)) for one in unlike]
        reply.add_table(("setting", old.name, new.name, "remark"), rows, max_rows=size)
    weighty = [one for one in unlike if one.severity in ("high", "medium")]
    for one in weighty[:MAX_FINDINGS]:
        _add_difference(one, old, new, reply)
    if (more := len(weighty) - MAX_FINDINGS) > 0:
        reply.gaps.append(f"{more} more differences of weight are in the table alone.")
    if suspects and not any(one.is_suspect and one.severity == "high" for one in unlike):
        reply.gaps.append(
            f"No difference between {old.name} and {new.name} explains the errors: what the "
            "failing code reads is alike, or differs by right."
        )


def _describe(one: Difference) -> str:
    return f"{one.description}; the failing code reads it" if one.is_suspect else one.description


def _format_key(one: Difference) -> str:
    return format_as_code(sanitize_line(one.key, MAX_KEY_CHARS))


def _add_difference(
    one: Difference, old: SettingsFile, new: SettingsFile, reply: ToolReport
) -> None:
    line = new.find_line(one.key) if one.key in new.values else None
    quote = sanitize_line(new.lines[line - 1], 200) if line else ""
    if any(str(value) in quote for key, value in new.values.items() if is_secret(key, value)):
        quote = ""
    key = _format_key(one)
    text = f"{key} {one.description}: {one.old} in {old.name}, {one.new} in {new.name}"
    reply.add_claim(f"{text}.", new.name, quote)
    if not one.is_suspect:
        reply.add_finding(one.severity, f"Configuration: {text}.", new.name, line=line)
        return
    fix = f"See whether {new.name} needs {key}, which {old.name} does not have."
    if one.key in old.values:
        is_hidden = one.old == SECRET_MASK
        value = f"the value of {old.name}" if is_hidden else f"{one.old}, as in {old.name}"
        fix = f"Set {key} in {new.name} to {value}, if that is right there."
    reply.lines += [f"- **Likely cause:** {text}.", f"- **Proposed fix:** {fix}"]
    message = f"Configuration: {text}; the code that fails depends on it."
    reply.add_finding("high", message, new.name, fix, line)
