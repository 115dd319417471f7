"""The explanation of logged exceptions by the code at hand, in the words of a report."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nodes.tools.incident.diagnosis import Diagnosis, diagnose
from nodes.tools.incident.kinds import sort
from nodes.tools.incident.linting import linted
from nodes.tools.incident.logs import read_logs
from nodes.tools.incident.moments import shown
from nodes.tools.incident.sources import Source, gather, is_same_file, shared_parts
from nodes.tools.incident.traces import Frame, Seen, seen_traces
from nodes.tools.incident.unfit import NothingFits
from nodes.tools.incident.wording import sentence
from nodes.tools.plain_text import code, plain_line
from nodes.tools.replies import Reply, counted, listed
from nodes.tools.secrets import masked

MAX_EXPLAINED = 5
MAX_WORDS = 200
NO_SOURCE = "give the source files with --file, or set SUPERVISE_REPOSITORY"
REST = "The rest of the plan stands on a bug in the code; compare the configuration instead."


@dataclass(frozen=True)
class Explained:
    """A logged exception, and what the code says to it."""

    seen: Seen
    source: Source | None = None
    frame: Frame | None = None
    diagnosis: Diagnosis | None = None
    is_other_version: bool = False


def explain_error(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{materials, repository}`.

    Raises:
        NothingFits: there is neither code nor a traceback.
    """
    matter = sort(request["materials"])
    sources, gaps = gather(request["materials"], request["repository"])
    seen = seen_traces(matter.logs, matter.prose)
    if not seen and not sources:
        raise NothingFits(f"there is neither a traceback nor a source file; {NO_SOURCE}")
    _, unread = read_logs(matter.logs)
    reply = Reply(gaps=[*gaps, *unread])
    explained = [_explained(one, sources) for one in seen[:MAX_EXPLAINED]]
    for one in explained:
        _tell(one, reply)
    if len(seen) > MAX_EXPLAINED:
        reply.gaps.append(f"{len(seen) - MAX_EXPLAINED} rarer exceptions were not explained.")
    if not seen:
        reply.lines.append(f"No traceback is logged; {counted(len(sources), 'file')} of code read.")
        reply.claim(f"The code read is {listed(each.name for each in sources)}.", sources[0].name)
        reply.gaps.append("Why it fails: no traceback is in the files, so no line can be named.")
    _lint([source for source in sources if source.name in matter.code], reply)
    return reply.to_json() | _against_the_plan(explained)


def _explained(seen: Seen, sources: Sequence[Source]) -> Explained:
    """Judge the innermost call whose file is at hand; the line must be the one that ran."""
    for frame in reversed(seen.trace.frames):
        named = [source for source in sources if shared_parts(source.name, frame.file)]
        named.sort(key=lambda one: -shared_parts(one.name, frame.file))
        for source in named:
            if not frame.code or source.line(frame.line) == frame.code:
                told = diagnose(seen.trace, frame, source, sources)
                return Explained(seen, source, frame, told)
        for source in named:
            if is_same_file(source.name, frame.file):
                return Explained(seen, source, frame, is_other_version=True)
    return Explained(seen)


def _tell(one: Explained, reply: Reply) -> None:
    seen, trace = one.seen, one.seen.trace
    said = plain_line(f"{trace.name}: {trace.message}" if trace.message else trace.name, MAX_WORDS)
    since = f" since {shown(seen.first)}" if seen.first else ""
    last = one.frame or trace.frames[-1]
    times = "once" if seen.count == 1 else f"{seen.count:,} times"
    text = f"{code(masked(said))} is logged {times}{since}, raised in {code(last.function)}"
    text += f" ({code(f'{last.file}, line {last.line}')})."
    reply.lines.append(f"- {text}")
    reply.claim(text, seen.source, said if masked(said) == said else "")
    if one.source is None:
        reply.gaps.append(f"The code of {code(last.file)} is not at hand; {NO_SOURCE}.")
    elif one.is_other_version:
        reply.gaps.append(
            f"{one.source.name} is not what ran: its line {last.line} is not the line that the "
            "traceback shows; give the version that was deployed."
        )
    elif one.diagnosis and one.frame:
        _conclude(one.diagnosis, one.source, one.frame, reply)


def _conclude(found: Diagnosis, source: Source, frame: Frame, reply: Reply) -> None:
    line = source.line(frame.line)
    match found.verdict:
        case "defect":
            reply.lines.append(f"- **A bug:** {found.why}.")
            reply.claim(f"{found.why}.", source.name, line)
            reply.finding(
                "high", f"Bug: {found.why}.", source.name, f"{sentence(found.mend)}.", frame.line
            )
            reply.lines.append(f"- **Proposed fix:** {sentence(found.mend)}.")
            reply.gaps.append(
                "What the code is to do in that case, and whether a test covers it, is for a "
                "person to decide."
            )
        case "configuration":
            keys = ", ".join(f"`{key}`" for key in found.keys)
            reply.lines.append(f"- **No bug in the code, a configuration issue:** {found.why}.")
            reply.claim(f"{found.why}.", source.name, line)
            reply.finding(
                "medium",
                f"No bug in the code, a configuration issue: {found.why}.",
                source.name,
                f"Compare the value of {keys} with an environment or a version that works.",
                frame.line,
            )
            reply.gaps.append(
                "That the code has no bug is told by rule from the failing line; whether what it "
                "called had a fault of its own is not in these files."
            )
        case _:
            reply.lines.append(f"- {found.why}.")
            reply.claim(f"{found.why}.", source.name, line)
            reply.gaps.append(f"Why {source.name}:{frame.line} raises: no rule tells; read it.")


def _lint(sources: Sequence[Source], reply: Reply) -> None:
    found = linted(sources)
    for slip in found.slips:
        reply.finding("medium", slip.message, slip.file, line=slip.line)
    reply.gaps += found.gaps
    reply.failures += found.failures


def _against_the_plan(explained: Sequence[Explained]) -> dict[str, Any]:
    """Say that the plan no longer holds where all that could be explained was configured so."""
    verdicts = [one.diagnosis for one in explained if one.diagnosis]
    told = {each.verdict for each in verdicts}
    if "configuration" not in told or "defect" in told:
        return {}
    why = "; ".join(each.why for each in verdicts if each.verdict == "configuration")
    return {
        "invalidates": f"There is no bug in the code, it is a configuration issue: {why}. {REST}"
    }
