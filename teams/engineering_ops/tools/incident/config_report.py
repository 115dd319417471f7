"""Report the comparison of configurations."""

from collections.abc import Mapping, Sequence
from typing import Any

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .config_differences import (
    SECRET_MASK,
    Difference,
    is_named,
    is_secret,
    list_differences,
    pair_configs,
)
from .settings_file import SettingsFile, read_settings
from .sources import sort_materials

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
            f"two configurations are needed to compare, {held}; give that of an environment or a "
            "version that works, and that of the one that fails, with --file"
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
