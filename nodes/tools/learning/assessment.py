"""Objectives judged, in words."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nodes.errors import ToolRefused
from nodes.tools.learning.bloom import LEVELS, TAXONOMY
from nodes.tools.learning.objectives import Objective, Reading, read
from nodes.tools.replies import Reply, counted, fitted

if TYPE_CHECKING:
    from state import Severity

SIZES = (60, 40, 20, 10)
"""Objectives shown, fewer where they are too long together."""


def assessed(objectives: Sequence[Objective]) -> dict[str, Any]:
    """Tell of each objective its verb, its level, and what to put in place of a vague one.

    Raises:
        ToolRefused: there are none.
    """
    if not objectives:
        raise ToolRefused(
            "no learning objectives were found; give them as objectives, one a line, or name a "
            "material with a heading, column or key that says objectives"
        )
    readings = [(objective, read(objective.text)) for objective in objectives]
    return fitted(lambda most: _told(readings, most), SIZES)


def _told(readings: Sequence[tuple[Objective, Reading]], most: int) -> Reply:
    reply = Reply(lines=[_headline([reading for _, reading in readings]), ""])
    reply.lines += ["| objective | verb | level |", "|---|---|---|"]
    for objective, reading in readings[:most]:
        shown = reading.level or reading.verdict
        asks = f"asks to {reading.level}" if reading.level else f"has a verb that is {shown}"
        text = objective.text.replace("|", "/")
        reply.lines.append(f"| {text} | {reading.verb} | {shown} |")
        reply.claim(f"“{objective.text}” {asks}", objective.source, objective.text)
        _find(reply, objective, reading)
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


def _headline(readings: Sequence[Reading]) -> str:
    verdicts = Counter(reading.verdict for reading in readings)
    levels = Counter(reading.level for reading in readings if reading.level)
    told = ", ".join(f"{levels[level]} {level}" for level in LEVELS if levels[level])
    parts = [f"{verdicts['measurable']} begin with a measurable verb{f' ({told})' if told else ''}"]
    parts += [f"{verdicts['vague']} with a vague one"] if verdicts["vague"] else []
    parts += [f"{verdicts['unknown']} with none that is known"] if verdicts["unknown"] else []
    return f"{counted(len(readings), 'objective')}: {', '.join(parts)}. Levels of {TAXONOMY}."


def _find(reply: Reply, objective: Objective, reading: Reading) -> None:
    def found(severity: "Severity", message: str, suggestion: str) -> None:
        reply.finding(severity, message, objective.source, suggestion, objective.line)

    match reading.verdict:
        case "vague":
            message = f"“{reading.verb}” cannot be assessed: {objective.text}"
            found("medium", message, f"Begin with a verb such as {reading.better}.")
        case "unknown":
            message = f"“{reading.verb}” is on no list of measurable verbs: {objective.text}"
            found("low", message, "Begin with what the learner does, such as explain or calculate.")
        case "measurable" if reading.second:
            message = f"two things are asked, {reading.verb} and {reading.second}: {objective.text}"
            found("info", message, "Make two objectives, so that each can be assessed.")
