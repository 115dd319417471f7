"""Report the comparison of configurations."""

from collections.abc import Sequence
from typing import Any

from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .config_differences import (
    SECRET_MASK,
    Difference,
    find_named_settings,
    holds_secret,
    is_suspect,
    list_differences,
    normalize_key,
)
from .config_pairs import pair_configs
from .errors import InsufficientMaterials
from .material_types import sort_materials
from .settings_file import SettingsFile, read_settings

SHOWN_COUNTS = (60, 25, 8)
MAX_FINDINGS = 12
MAX_KEY_CHARS = 100
REPORTED_SEVERITIES = ("high", "medium")


def compare_config(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{materials, findings}`, each finding with its message.

    Raises:
        InsufficientMaterials: there are no two files to compare, or one cannot be read.
    """
    given = sort_materials(request["materials"]).configuration
    found, alone = pair_configs(given)
    if not found:
        held = f"only {join_names(alone)} is there" if alone else "there is none"
        raise InsufficientMaterials(
            f"two configurations are needed to compare, {held}; give that of an environment or a "
            "version that works, and that of the one that fails, with --file"
        )
    files = {name: read_settings(name, given[name]) for pair in found for name in pair}
    told = [str(finding.get("message", "")) for finding in request["findings"]]
    suspects = _keep_known_settings(find_named_settings(told), files.values())
    return fit_to_size(
        lambda size: _build_report(found, files, suspects, alone, size), SHOWN_COUNTS
    )


def _keep_known_settings(names: Sequence[str], files: Any) -> list[str]:
    """Keep the names that are in a file, or that look like a setting."""
    wanted = {name: {normalize_key(name)} for name in names}
    return [
        name
        for name in names
        if any(is_suspect(key, wanted[name]) for file in files for key in file.values)
    ]


def _build_report(
    found: Sequence[tuple[str, str]],
    files: dict[str, SettingsFile],
    suspects: Sequence[str],
    alone: Sequence[str],
    size: int,
) -> ToolReport:
    reply = ToolReport()
    if alone:
        reply.gaps.append(f"Not compared, without a counterpart: {join_names(alone)}.")
    for old, new in found:
        _add_comparison(files[old], files[new], suspects, size, reply)
    reply.gaps.append(
        "Whether a difference is meant is for a human to judge; what is not in these files, such "
        "as variables set at start, was not compared."
    )
    return reply


def _add_comparison(
    old: SettingsFile, new: SettingsFile, suspects: Sequence[str], size: int, reply: ToolReport
) -> None:
    unlike = list_differences(old, new, suspects)
    same = len(old.values.keys() & new.values.keys()) - sum(
        one.key in old.values and one.key in new.values for one in unlike
    )
    text = (
        f"{new.name} differs from {old.name} in {format_count(len(unlike), 'setting')}; "
        f"{same:,} are "
        "alike."
    )
    reply.lines += [f"**{text}**", ""]
    reply.add_claim(text, new.name)
    if unlike:
        reply.lines += [_format_table(old, new, unlike[:size]), ""]
        if len(unlike) > size:
            reply.lines += [f"{len(unlike) - size} more, of less weight, are left out.", ""]
    weighty = [one for one in unlike if one.severity in REPORTED_SEVERITIES]
    for one in weighty[:MAX_FINDINGS]:
        _add_difference(one, old, new, reply)
    if (more := len(weighty) - MAX_FINDINGS) > 0:
        reply.gaps.append(f"{more} more differences of weight are in the table alone.")
    if suspects and not any(one.is_suspect and one.severity == "high" for one in unlike):
        reply.gaps.append(
            f"No difference between {old.name} and {new.name} explains the errors: what the "
            "failing code reads is alike, or differs by right."
        )
    different = {normalize_key(one.key) for one in unlike}
    for name in suspects:
        if not any(is_suspect(key, {normalize_key(name)}) for key in different):
            text = f"`{name}`, which a finding names, is the same in {old.name} and {new.name}."
            reply.lines.append(f"- {text}")
            reply.add_claim(text, new.name)


def _format_table(old: SettingsFile, new: SettingsFile, shown: Sequence[Difference]) -> str:
    lines = [f"| setting | {old.name} | {new.name} | remark |", "| --- | --- | --- | --- |"]
    for one in shown:
        remark = (
            f"{one.description}; the failing code reads it" if one.is_suspect else one.description
        )
        key = format_as_code(sanitize_line(one.key, MAX_KEY_CHARS).replace("|", "\\|"))
        lines.append(f"| {key} | {one.old} | {one.new} | {remark} |")
    return "\n".join(lines)


def _add_difference(
    one: Difference, old: SettingsFile, new: SettingsFile, reply: ToolReport
) -> None:
    line = new.find_line(one.key) if one.key in new.values else None
    quote = new.lines[line - 1].strip() if line else ""
    key = format_as_code(sanitize_line(one.key, MAX_KEY_CHARS))
    text = f"{key} {one.description}: {one.old} in {old.name}, {one.new} in {new.name}."
    reply.add_claim(text, new.name, "" if holds_secret(quote, new) else sanitize_line(quote, 200))
    if one.is_suspect:
        message = f"Configuration: {text[:-1]}; the code that fails depends on it."
        mend = _suggest_fix(one, old, new)
        reply.lines += [f"- **Likely cause:** {text}", f"- **Proposed fix:** {mend}"]
        reply.add_finding("high", message, new.name, mend, line)
        return
    reply.add_finding(one.severity, f"Configuration: {text}", new.name, line=line)


def _suggest_fix(one: Difference, old: SettingsFile, new: SettingsFile) -> str:
    key = format_as_code(sanitize_line(one.key, MAX_KEY_CHARS))
    if one.key not in old.values:
        return f"See whether {new.name} needs {key}, which {old.name} does not have."
    value = f"the value of {old.name}" if one.old == SECRET_MASK else f"{one.old}, as in {old.name}"
    return f"Set {key} in {new.name} to {value}, if that is right there."
