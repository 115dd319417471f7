"""The comparison of configurations, in the words of a report."""

from collections.abc import Sequence
from typing import Any

from nodes.tools.incident.comparison import (
    MASK,
    Difference,
    differences,
    folded,
    holds_secret,
    is_suspect,
    named_settings,
)
from nodes.tools.incident.kinds import sort
from nodes.tools.incident.pairing import pairs
from nodes.tools.incident.settings_file import SettingsFile, read_settings
from nodes.tools.incident.unfit import NothingFits
from nodes.tools.plain_text import code, plain_line
from nodes.tools.replies import Reply, counted, fitted, listed

SIZES = (60, 25, 8)
MAX_FINDINGS = 12
MAX_KEY_CHARS = 100
WEIGHTY = ("high", "medium")


def compare_config(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{materials, findings}`, each finding with its message.

    Raises:
        NothingFits: there are no two files to compare, or one cannot be read.
    """
    given = sort(request["materials"]).configuration
    found, alone = pairs(given)
    if not found:
        held = f"only {listed(alone)} is there" if alone else "there is none"
        raise NothingFits(
            f"two configurations are needed to compare, {held}; give that of an environment or a "
            "version that works, and that of the one that fails, with --file"
        )
    files = {name: read_settings(name, given[name]) for pair in found for name in pair}
    told = [str(finding.get("message", "")) for finding in request["findings"]]
    suspects = _held(named_settings(told), files.values())
    return fitted(lambda size: _reply(found, files, suspects, alone, size), SIZES)


def _held(names: Sequence[str], files: Any) -> list[str]:
    """Keep the names that a file has, or that look like a setting."""
    wanted = {name: {folded(name)} for name in names}
    return [
        name
        for name in names
        if any(is_suspect(key, wanted[name]) for file in files for key in file.values)
    ]


def _reply(
    found: Sequence[tuple[str, str]],
    files: dict[str, SettingsFile],
    suspects: Sequence[str],
    alone: Sequence[str],
    size: int,
) -> Reply:
    reply = Reply()
    if alone:
        reply.gaps.append(f"Not compared, as there is no counterpart: {listed(alone)}.")
    for old, new in found:
        _compare(files[old], files[new], suspects, size, reply)
    reply.gaps.append(
        "Whether a difference is meant is for a person to judge; what is not in these files, such "
        "as variables set at start, was not compared."
    )
    return reply


def _compare(
    old: SettingsFile, new: SettingsFile, suspects: Sequence[str], size: int, reply: Reply
) -> None:
    unlike = differences(old, new, suspects)
    same = len(old.values.keys() & new.values.keys()) - sum(
        one.key in old.values and one.key in new.values for one in unlike
    )
    text = (
        f"{new.name} differs from {old.name} in {counted(len(unlike), 'setting')}; {same:,} are "
        "alike."
    )
    reply.lines += [f"**{text}**", ""]
    reply.claim(text, new.name)
    if unlike:
        reply.lines += [_table(old, new, unlike[:size]), ""]
        if len(unlike) > size:
            reply.lines += [f"{len(unlike) - size} more, of less weight, are left out.", ""]
    weighty = [one for one in unlike if one.severity in WEIGHTY]
    for one in weighty[:MAX_FINDINGS]:
        _tell(one, old, new, reply)
    if (more := len(weighty) - MAX_FINDINGS) > 0:
        reply.gaps.append(f"{more} more differences of weight are in the table alone.")
    if suspects and not any(one.is_suspect and one.severity == "high" for one in unlike):
        reply.gaps.append(
            f"No difference between {old.name} and {new.name} explains the errors: what the "
            "failing code reads is alike, or differs by right."
        )
    different = {folded(one.key) for one in unlike}
    for name in suspects:
        if not any(is_suspect(key, {folded(name)}) for key in different):
            text = f"`{name}`, which a finding names, is the same in {old.name} and {new.name}."
            reply.lines.append(f"- {text}")
            reply.claim(text, new.name)


def _table(old: SettingsFile, new: SettingsFile, shown: Sequence[Difference]) -> str:
    lines = [f"| setting | {old.name} | {new.name} | remark |", "| --- | --- | --- | --- |"]
    for one in shown:
        remark = f"{one.what}; the failing code reads it" if one.is_suspect else one.what
        key = code(plain_line(one.key, MAX_KEY_CHARS).replace("|", "\\|"))
        lines.append(f"| {key} | {one.old} | {one.new} | {remark} |")
    return "\n".join(lines)


def _tell(one: Difference, old: SettingsFile, new: SettingsFile, reply: Reply) -> None:
    line = new.line_of(one.key) if one.key in new.values else None
    quote = new.lines[line - 1].strip() if line else ""
    key = code(plain_line(one.key, MAX_KEY_CHARS))
    text = f"{key} {one.what}: {one.old} in {old.name}, {one.new} in {new.name}."
    reply.claim(text, new.name, "" if holds_secret(quote, new) else plain_line(quote, 200))
    if one.is_suspect:
        message = f"Configuration: {text[:-1]}; the code that fails depends on it."
        mend = _mend(one, old, new)
        reply.lines += [f"- **Likely cause:** {text}", f"- **Proposed fix:** {mend}"]
        reply.finding("high", message, new.name, mend, line)
        return
    reply.finding(one.severity, f"Configuration: {text}", new.name, line=line)


def _mend(one: Difference, old: SettingsFile, new: SettingsFile) -> str:
    key = code(plain_line(one.key, MAX_KEY_CHARS))
    if one.key not in old.values:
        return f"See whether {new.name} needs {key}, which {old.name} does not have."
    value = f"the value of {old.name}" if one.old == MASK else f"{one.old}, as in {old.name}"
    return f"Set {key} in {new.name} to {value}, if that is right there."
