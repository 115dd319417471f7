"""Report on learning objectives."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .bloom import LEVELS, TAXONOMY
from .objectives import Objective, VerbAssessment, assess_verb

if TYPE_CHECKING:
    from state import Severity

SHOWN_COUNTS = (60, 40, 20, 10)
"""Objectives shown, fewer where they are too long together."""


def assess_objectives(objectives: Sequence[Objective]) -> dict[str, Any]:
    """Report the verb and level of each objective, and better verbs for vague ones.

    Raises:
        ToolRefused: there are none.
    """
    if not objectives:
        raise ToolRefused(
            "no learning objectives were found; give them as objectives, one a line, or name a "
            "material with a heading, column or key that says objectives"
        )
    readings = [(objective, assess_verb(objective.text)) for objective in objectives]
    return fit_to_size(lambda most: _build_report(readings, most), SHOWN_COUNTS)


def _build_report(readings: Sequence[tuple[Objective, VerbAssessment]], most: int) -> ToolReport:
    reply = ToolReport(lines=[_format_headline([reading for _, reading in readings]), ""])
    reply.lines += ["| objective | verb | level |", "|---|---|---|"]
    for objective, reading in readings[:most]:
        shown = reading.level or reading.verdict
        asks = f"asks to {reading.level}" if reading.level else f"has a verb that is {shown}"
        text = objective.text.replace("|", "/")
        reply.lines.append(f"| {text} | {reading.verb} | {shown} |")
        reply.add_claim(f"“{objective.text}” {asks}", objective.source, objective.text)
        _add_finding(reply, objective, reading)
    if len(readings) > most:
        reply.gaps.append(f"{len(readings) - most} of {len(readings)} objectives are not shown.")
    missing = [level for level in LEVELS if level not in {r.level for _, r in readings}]
    if missing:
        reply.lines += ["", f"- No objective asks to: {', '.join(missing)}."]
    reply.gaps.append(
        "A verb's level is the usual one; what an objective really asks depends on the task that "
        "tests it, which is for a teacher to judge."
    )
    return reply


def _format_headline(readings: Sequence[VerbAssessment]) -> str:
    verdicts = Counter(reading.verdict for reading in readings)
    levels = Counter(reading.level for reading in readings if reading.level)
    told = ", ".join(f"{levels[level]} {level}" for level in LEVELS if levels[level])
    parts = [f"{verdicts['measurable']} begin with a measurable verb{f' ({told})' if told else ''}"]
    parts += [f"{verdicts['vague']} with a vague one"] if verdicts["vague"] else []
    parts += [f"{verdicts['unknown']} with none that is known"] if verdicts["unknown"] else []
    return f"{format_count(len(readings), 'objective')}: {', '.join(parts)}. Levels of {TAXONOMY}."


def _add_finding(reply: ToolReport, objective: Objective, reading: VerbAssessment) -> None:
    def found(severity: "Severity", message: str, suggestion: str) -> None:
        reply.add_finding(severity, message, objective.source, suggestion, objective.line)

    match reading.verdict:
        case "vague":
            message = f"“{reading.verb}” cannot be assessed: {objective.text}"
            found("medium", message, f"Begin with a verb such as {reading.better_verbs}.")
        case "unknown":
            message = f"“{reading.verb}” is on no list of measurable verbs: {objective.text}"
            found("low", message, "Begin with what the learner does, such as explain or calculate.")
        case "measurable" if reading.second_verb:
            message = (
                f"two things are asked, {reading.verb} and {reading.second_verb}: {objective.text}"
            )
            found("info", message, "Make two objectives, so that each can be assessed.")
