"""Explain logged exceptions by the available code."""

import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from extensions.tools.linting.ruff_process import lint_files
from extensions.tools.logs.entries import format_time
from extensions.tools.logs.failures import Failure, StackFrame
from extensions.tools.logs.reader import read_logs
from extensions.tools.logs.secrets import mask_secrets
from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import ToolReport, join_names

from .error_diagnosis import Diagnosis, diagnose
from .sources import SourceFile, count_shared_parts, is_same_file, load_sources, sort_materials

RUFF_RULES = ("F5", "F6", "F7", "F81", "F82", "B006", "B015", "PLE")
MAX_FILES, MAX_FINDINGS = 20, 8


def add_lint_findings(sources: Sequence[SourceFile], reply: ToolReport) -> None:
    """Add undefined names, wrong formats and similar defects, up to a limit."""
    python = {source.name: source.text for source in sources if source.tree}
    checked = dict(list(python.items())[:MAX_FILES])
    try:
        # Comments in the files must not disable rules.
        hits = lint_files(checked, RUFF_RULES, "--ignore-noqa")
    except (OSError, ValueError, RuntimeError, subprocess.TimeoutExpired):
        hits, checked = [], {}
    for hit in hits[:MAX_FINDINGS]:
        reply.add_finding("medium", f"{hit.message} ({hit.code})", hit.file, line=hit.line)
    if (more := len(hits) - MAX_FINDINGS) > 0:
        reply.gaps.append(f"{more} more slips are left out.")
    if left := [name for name in python if name not in checked]:
        reply.failures.append(f"ruff did not look at {join_names(left)}")


MAX_EXPLAINED = 5
MAX_MESSAGE_CHARS = 200
SOURCE_HINT = (
    "attach the source files (on the command line: --file), or set a repository "
    "(setting: SUPERVISE_REPOSITORY)"
)
BUG_GAP = (
    "What the code is to do in that case, and whether a test covers it, is for a human to decide."
)
SETTING_GAP = (
    "That the code has no bug is decided by rule from the failing line; whether what it called had "
    "a fault of its own is not in these files."
)


class LoggedError(NamedTuple):
    """An exception, and where and when it is logged."""

    failure: Failure
    source: str
    time: datetime | None


def explain_errors(materials: dict[str, str], repository: str) -> dict[str, Any]:
    """Explain the exceptions that are logged: the failing line, why it raised, how to fix it.

    Python tracebacks among the files are followed into the source files. It distinguishes
    a bug from a value that a setting supplied, and in that case, without a bug, its result has
    `found_as_expected: false`. Repeat that in your report. Example: explain_error()

    Raises:
        ToolRefused: there is neither code nor a traceback.
    """
    matter = sort_materials(materials)
    sources, gaps = load_sources(materials, repository)
    seen = group_errors({**matter["logs"], **matter["prose"]})
    if not seen and not sources:
        among = f" among {join_names(materials)}" if materials else ""
        raise ToolRefused(f"there is neither a traceback nor a source file{among}; {SOURCE_HINT}")
    unread = [gap for log in read_logs(matter["logs"]) for gap in log.describe_limits()[0]]
    reply = ToolReport(gaps=[*gaps, *unread])
    verdicts = [_add_error(group, sources, reply) for group in seen[:MAX_EXPLAINED]]
    if len(seen) > MAX_EXPLAINED:
        reply.gaps.append(f"{len(seen) - MAX_EXPLAINED} rarer exceptions were not explained.")
    if not seen:
        files = format_count(len(sources), "file")
        reply.lines.append(f"No traceback is logged; {files} of code read.")
        named = join_names(each.name for each in sources)
        reply.add_claim(f"The code read is {named}.", sources[0].name)
        reply.gaps.append("Why it fails: no traceback is in the files, so no line can be named.")
    add_lint_findings([source for source in sources if source.name in matter["code"]], reply)
    causes = {each.verdict for each in verdicts if each}
    is_denied = "configuration" in causes and "defect" not in causes
    return reply.to_json() | ({"found_as_expected": False} if is_denied else {})


def group_errors(texts: Mapping[str, str]) -> list[list[LoggedError]]:
    """Group Python's tracebacks by how they end; the most frequent first."""
    held: dict[tuple[str, str, int | None], list[LoggedError]] = {}
    for log in read_logs(texts):
        for failure in log.failures:
            if failure.language == "Python" and failure.frames and failure.error:
                entry, last = log.find_dated_entry(failure.first_line), failure.frames[0]
                one = LoggedError(failure, log.name, entry.time if entry else None)
                held.setdefault((failure.name, last.file, last.line), []).append(one)
    return sorted(held.values(), key=len, reverse=True)


def _find_source(
    failure: Failure, sources: Sequence[SourceFile]
) -> tuple[StackFrame, SourceFile | None, bool]:
    """Return the innermost call whose file is available, and whether its line is the one that ran.

    Without such a file, the innermost call of all.
    """
    for frame in failure.frames:
        named = [source for source in sources if count_shared_parts(source.name, frame.file)]
        named.sort(key=lambda one: -count_shared_parts(one.name, frame.file))
        for source in named:
            if frame.line and (not frame.code or source.get_line(frame.line) == frame.code):
                return frame, source, True
        for source in named:
            if is_same_file(source.name, frame.file):
                return frame, source, False
    return failure.frames[0], None, False


def _add_error(
    group: Sequence[LoggedError], sources: Sequence[SourceFile], reply: ToolReport
) -> Diagnosis | None:
    failure, first = group[0].failure, min((one.time for one in group if one.time), default=None)
    frame, source, is_what_ran = _find_source(failure, sources)
    said = sanitize_line(f"{failure.name}: {failure.message}".rstrip(": "), MAX_MESSAGE_CHARS)
    since = f" since {format_time(first)}" if first else ""
    times = "once" if len(group) == 1 else f"{len(group):,} times"
    text = (
        f"{format_as_code(mask_secrets(said))} is logged {times}{since}, raised in "
        f"{format_as_code(frame.function)} ({format_as_code(f'{frame.file}, line {frame.line}')})."
    )
    reply.lines.append(f"- {text}")
    reply.add_claim(text, group[0].source, said if mask_secrets(said) == said else "")
    if source is None:
        file = format_as_code(frame.file)
        reply.gaps.append(f"The code of {file} is not at hand; {SOURCE_HINT}.")
    elif not is_what_ran or frame.line is None:
        reply.gaps.append(
            f"{source.name} is not what ran: its line {frame.line} is not the line that the "
            "traceback shows; give the version that was deployed."
        )
    else:
        found = diagnose(failure, frame.line, source, sources)
        _add_diagnosis(found, source, frame.line, reply)
        return found
    return None


def _add_diagnosis(found: Diagnosis, source: SourceFile, line: int, reply: ToolReport) -> None:
    reply.add_claim(f"{found.reason}.", source.name, source.get_line(line))
    match found.verdict:
        case "defect":
            fix = f"{found.fix[:1].upper()}{found.fix[1:]}."
            reply.lines += [f"- **A bug:** {found.reason}.", f"- **Proposed fix:** {fix}"]
            reply.add_finding("high", f"Bug: {found.reason}.", source.name, fix, line)
            reply.gaps.append(BUG_GAP)
        case "configuration":
            keys = ", ".join(f"`{key}`" for key in found.setting_keys)
            text = f"No bug in the code, a configuration issue: {found.reason}."
            fix = f"Compare the value of {keys} with an environment or a version that works."
            reply.lines.append(f"- **{text}**")
            reply.add_finding("medium", text, source.name, fix, line)
            reply.gaps.append(SETTING_GAP)
        case _:
            reply.lines.append(f"- {found.reason}.")
            reply.gaps.append(f"Why {source.name}:{line} raises: no rule applies; read it.")
