"""Explain logged exceptions by the available code."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.failures.secrets import mask_secrets
from nodes.tools.framework.tool_report import ToolReport, join_names

from .capitalization import capitalize_first
from .error_diagnosis import Diagnosis, diagnose
from .errors import InsufficientMaterials
from .logs import read_logs
from .material_types import sort_materials
from .source_lint import lint_source_files
from .sources import SourceFile, count_shared_parts, is_same_file, load_sources
from .timestamps import format_time
from .traces import LoggedTrace, TraceFrame, group_traces

MAX_EXPLAINED = 5
MAX_MESSAGE_CHARS = 200
SOURCE_HINT = "give the source files with --file, or set SUPERVISE_REPOSITORY"
PLAN_ADVICE = "The rest of the plan assumes a bug in the code; compare the configuration instead."


@dataclass(frozen=True)
class ExplainedError:
    """A logged exception, and its explanation from the code."""

    logged_trace: LoggedTrace
    source: SourceFile | None = None
    frame: TraceFrame | None = None
    diagnosis: Diagnosis | None = None
    is_other_version: bool = False


def explain_error(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{materials, repository}`.

    Raises:
        InsufficientMaterials: there is neither code nor a traceback.
    """
    matter = sort_materials(request["materials"])
    sources, gaps = load_sources(request["materials"], request["repository"])
    seen = group_traces(matter.logs, matter.prose)
    if not seen and not sources:
        raise InsufficientMaterials(
            f"there is neither a traceback nor a source file; {SOURCE_HINT}"
        )
    _, unread = read_logs(matter.logs)
    reply = ToolReport(gaps=[*gaps, *unread])
    explained = [_explain_trace(one, sources) for one in seen[:MAX_EXPLAINED]]
    for one in explained:
        _add_trace(one, reply)
    if len(seen) > MAX_EXPLAINED:
        reply.gaps.append(f"{len(seen) - MAX_EXPLAINED} rarer exceptions were not explained.")
    if not seen:
        reply.lines.append(
            f"No traceback is logged; {format_count(len(sources), 'file')} of code read."
        )
        reply.add_claim(
            f"The code read is {join_names(each.name for each in sources)}.", sources[0].name
        )
        reply.gaps.append("Why it fails: no traceback is in the files, so no line can be named.")
    _add_lint_findings([source for source in sources if source.name in matter.code], reply)
    return reply.to_json() | _invalidate_plan(explained)


def _explain_trace(seen: LoggedTrace, sources: Sequence[SourceFile]) -> ExplainedError:
    """Diagnose the innermost call whose file is available; the line must be the one that ran."""
    for frame in reversed(seen.trace.frames):
        named = [source for source in sources if count_shared_parts(source.name, frame.file)]
        named.sort(key=lambda one: -count_shared_parts(one.name, frame.file))
        for source in named:
            if not frame.code or source.get_line(frame.line) == frame.code:
                told = diagnose(seen.trace, frame, source, sources)
                return ExplainedError(seen, source, frame, told)
        for source in named:
            if is_same_file(source.name, frame.file):
                return ExplainedError(seen, source, frame, is_other_version=True)
    return ExplainedError(seen)


def _add_trace(one: ExplainedError, reply: ToolReport) -> None:
    seen, trace = one.logged_trace, one.logged_trace.trace
    said = sanitize_line(
        f"{trace.name}: {trace.message}" if trace.message else trace.name, MAX_MESSAGE_CHARS
    )
    since = f" since {format_time(seen.first)}" if seen.first else ""
    last = one.frame or trace.frames[-1]
    times = "once" if seen.count == 1 else f"{seen.count:,} times"
    text = (
        f"{format_as_code(mask_secrets(said))} is logged {times}{since}, raised in "
        f"{format_as_code(last.function)}"
    )
    text += f" ({format_as_code(f'{last.file}, line {last.line}')})."
    reply.lines.append(f"- {text}")
    reply.add_claim(text, seen.source, said if mask_secrets(said) == said else "")
    if one.source is None:
        reply.gaps.append(f"The code of {format_as_code(last.file)} is not at hand; {SOURCE_HINT}.")
    elif one.is_other_version:
        reply.gaps.append(
            f"{one.source.name} is not what ran: its line {last.line} is not the line that the "
            "traceback shows; give the version that was deployed."
        )
    elif one.diagnosis and one.frame:
        _add_diagnosis(one.diagnosis, one.source, one.frame, reply)


def _add_diagnosis(
    found: Diagnosis, source: SourceFile, frame: TraceFrame, reply: ToolReport
) -> None:
    line = source.get_line(frame.line)
    match found.verdict:
        case "defect":
            reply.lines.append(f"- **A bug:** {found.reason}.")
            reply.add_claim(f"{found.reason}.", source.name, line)
            reply.add_finding(
                "high",
                f"Bug: {found.reason}.",
                source.name,
                f"{capitalize_first(found.fix)}.",
                frame.line,
            )
            reply.lines.append(f"- **Proposed fix:** {capitalize_first(found.fix)}.")
            reply.gaps.append(
                "What the code is to do in that case, and whether a test covers it, is for a "
                "human to decide."
            )
        case "configuration":
            keys = ", ".join(f"`{key}`" for key in found.setting_keys)
            reply.lines.append(f"- **No bug in the code, a configuration issue:** {found.reason}.")
            reply.add_claim(f"{found.reason}.", source.name, line)
            reply.add_finding(
                "medium",
                f"No bug in the code, a configuration issue: {found.reason}.",
                source.name,
                f"Compare the value of {keys} with an environment or a version that works.",
                frame.line,
            )
            reply.gaps.append(
                "That the code has no bug is decided by rule from the failing line; whether what "
                "it called had a fault of its own is not in these files."
            )
        case _:
            reply.lines.append(f"- {found.reason}.")
            reply.add_claim(f"{found.reason}.", source.name, line)
            reply.gaps.append(f"Why {source.name}:{frame.line} raises: no rule applies; read it.")


def _add_lint_findings(sources: Sequence[SourceFile], reply: ToolReport) -> None:
    found = lint_source_files(sources)
    for slip in found.findings:
        reply.add_finding("medium", slip.message, slip.file, line=slip.line)
    reply.gaps += found.gaps
    reply.failures += found.failures


def _invalidate_plan(explained: Sequence[ExplainedError]) -> dict[str, Any]:
    """Invalidate the plan if every exception that could be explained comes from configuration."""
    verdicts = [one.diagnosis for one in explained if one.diagnosis]
    told = {each.verdict for each in verdicts}
    if "configuration" not in told or "defect" in told:
        return {}
    why = "; ".join(each.reason for each in verdicts if each.verdict == "configuration")
    return {
        "invalidates": f"There is no bug in the code, it is a configuration issue: {why}. "
        "{PLAN_ADVICE}"
    }
