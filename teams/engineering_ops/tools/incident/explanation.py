"""Explain logged exceptions by the available code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import ToolReport, join_names
from nodes.tools.logs.failure import Failure, StackFrame
from nodes.tools.logs.reader import read_logs
from nodes.tools.logs.secrets import mask_secrets
from nodes.tools.logs.timestamps import format_time

from .error_diagnosis import Diagnosis, diagnose
from .material_types import sort_materials
from .source_lint import add_lint_findings
from .sources import SourceFile, count_shared_parts, is_same_file, load_sources

MAX_EXPLAINED = 5
MAX_MESSAGE_CHARS = 200
SOURCE_HINT = "give the source files with --file, or set SUPERVISE_REPOSITORY"
PLAN_ADVICE = "The rest of the plan assumes a bug in the code; compare the configuration instead."


@dataclass(frozen=True)
class LoggedError:
    """An exception, how often it is logged, and where and when first."""

    failure: Failure
    count: int
    source: str
    first: datetime | None


@dataclass(frozen=True)
class ExplainedError:
    """A logged exception, and its explanation from the code."""

    logged: LoggedError
    source: SourceFile | None = None
    frame: StackFrame | None = None
    diagnosis: Diagnosis | None = None


def explain_errors(materials: dict[str, str], repository: str) -> dict[str, Any]:
    """Return why the logged exceptions were raised, from the lines that raised them.

    Raises:
        ToolRefused: there is neither code nor a traceback.
    """
    matter = sort_materials(materials)
    sources, gaps = load_sources(materials, repository)
    seen = group_errors({**matter.logs, **matter.prose})
    if not seen and not sources:
        among = f" among {join_names(materials)}" if materials else ""
        raise ToolRefused(f"there is neither a traceback nor a source file{among}; {SOURCE_HINT}")
    unread = [gap for log in read_logs(matter.logs) for gap in log.describe_limits()[0]]
    reply = ToolReport(gaps=[*gaps, *unread])
    explained = [_explain(one, sources) for one in seen[:MAX_EXPLAINED]]
    for one in explained:
        _add_error(one, reply)
    if len(seen) > MAX_EXPLAINED:
        reply.gaps.append(f"{len(seen) - MAX_EXPLAINED} rarer exceptions were not explained.")
    if not seen:
        files = format_count(len(sources), "file")
        reply.lines.append(f"No traceback is logged; {files} of code read.")
        named = join_names(each.name for each in sources)
        reply.add_claim(f"The code read is {named}.", sources[0].name)
        reply.gaps.append("Why it fails: no traceback is in the files, so no line can be named.")
    add_lint_findings([source for source in sources if source.name in matter.code], reply)
    return reply.to_json() | _invalidate_plan(explained)


def group_errors(texts: Mapping[str, str]) -> list[LoggedError]:
    """Group Python's tracebacks by how they end; the most frequent first."""
    held: dict[tuple[str, str, int | None], list[LoggedError]] = {}
    for log in read_logs(texts):
        for failure in log.failures:
            if failure.language == "Python" and failure.frames and failure.error:
                entry, last = log.find_dated_entry(failure.first_line), failure.frames[0]
                one = LoggedError(failure, 1, log.name, entry.time if entry else None)
                held.setdefault((failure.name, last.file, last.line), []).append(one)
    found = [
        LoggedError(
            group[0].failure,
            len(group),
            group[0].source,
            min((each.first for each in group if each.first), default=None),
        )
        for group in held.values()
    ]
    return sorted(found, key=lambda one: -one.count)


def _explain(logged: LoggedError, sources: Sequence[SourceFile]) -> ExplainedError:
    """Diagnose the innermost call whose file is available; the line must be the one that ran."""
    for frame in logged.failure.frames:
        named = [source for source in sources if count_shared_parts(source.name, frame.file)]
        named.sort(key=lambda one: -count_shared_parts(one.name, frame.file))
        for source in named:
            if frame.line and (not frame.code or source.get_line(frame.line) == frame.code):
                told = diagnose(logged.failure, frame.line, source, sources)
                return ExplainedError(logged, source, frame, told)
        for source in named:
            if is_same_file(source.name, frame.file):
                return ExplainedError(logged, source, frame)
    return ExplainedError(logged)


def _add_error(one: ExplainedError, reply: ToolReport) -> None:
    logged, failure = one.logged, one.logged.failure
    title = f"{failure.name}: {failure.message}" if failure.message else failure.name
    said = sanitize_line(title, MAX_MESSAGE_CHARS)
    since = f" since {format_time(logged.first)}" if logged.first else ""
    last = one.frame or failure.frames[0]
    times = "once" if logged.count == 1 else f"{logged.count:,} times"
    text = (
        f"{format_as_code(mask_secrets(said))} is logged {times}{since}, raised in "
        f"{format_as_code(last.function)} ({format_as_code(f'{last.file}, line {last.line}')})."
    )
    reply.lines.append(f"- {text}")
    reply.add_claim(text, logged.source, said if mask_secrets(said) == said else "")
    if one.source is None:
        reply.gaps.append(f"The code of {format_as_code(last.file)} is not at hand; {SOURCE_HINT}.")
    elif one.diagnosis is None:
        reply.gaps.append(
            f"{one.source.name} is not what ran: its line {last.line} is not the line that the "
            "traceback shows; give the version that was deployed."
        )
    elif last.line:
        _add_diagnosis(one.diagnosis, one.source, last.line, reply)


def _add_diagnosis(found: Diagnosis, source: SourceFile, line: int, reply: ToolReport) -> None:
    reply.add_claim(f"{found.reason}.", source.name, source.get_line(line))
    match found.verdict:
        case "defect":
            fix = f"{found.fix[:1].upper()}{found.fix[1:]}."
            reply.lines += [f"- **A bug:** {found.reason}.", f"- **Proposed fix:** {fix}"]
            reply.add_finding("high", f"Bug: {found.reason}.", source.name, fix, line)
            reply.gaps.append(
                "What the code is to do in that case, and whether a test covers it, is for a "
                "human to decide."
            )
        case "configuration":
            keys = ", ".join(f"`{key}`" for key in found.setting_keys)
            text = f"No bug in the code, a configuration issue: {found.reason}."
            fix = f"Compare the value of {keys} with an environment or a version that works."
            reply.lines.append(f"- **{text}**")
            reply.add_finding("medium", text, source.name, fix, line)
            reply.gaps.append(
                "That the code has no bug is decided by rule from the failing line; whether what "
                "it called had a fault of its own is not in these files."
            )
        case _:
            reply.lines.append(f"- {found.reason}.")
            reply.gaps.append(f"Why {source.name}:{line} raises: no rule applies; read it.")


def _invalidate_plan(explained: Sequence[ExplainedError]) -> dict[str, Any]:
    """Invalidate the plan if every exception that could be explained comes from configuration."""
    verdicts = [one.diagnosis for one in explained if one.diagnosis]
    told = {each.verdict for each in verdicts}
    if "configuration" not in told or "defect" in told:
        return {}
    why = "; ".join(each.reason for each in verdicts if each.verdict == "configuration")
    return {
        "invalidates": f"There is no bug in the code, it is a configuration issue: {why}. "
        f"{PLAN_ADVICE}"
    }
