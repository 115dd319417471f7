"""One look of the strong tier at grave findings just below the threshold."""

from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.language_models import BaseChatModel

from nodes.errors import ModelError
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.prompts.checks import build_second_look_messages
from nodes.schemas.replies import SecondLook
from nodes.telemetry.events import emit
from state import MergedFinding, Severity, Tier, Usage

LOOK_TIER: Final[Tier] = "strong"
GRAVE: Final[tuple[Severity, ...]] = ("critical", "high")
MIN_CONFIDENCE: Final = 60
MAX_LOOKS: Final = 5
"""Findings of one answer that are looked at, the most severe first, all in one call."""
LINES_AROUND: Final = 12


def select_doubtful(
    findings: Sequence[MergedFinding], min_confidence: int
) -> tuple[MergedFinding, ...]:
    """Return the grave findings whose confidence is at least 60 and below the team's threshold."""
    return tuple(
        each
        for each in findings
        if each.severity in GRAVE
        and each.confidence is not None
        and MIN_CONFIDENCE <= each.confidence < min_confidence
    )[:MAX_LOOKS]


async def look_again(
    model: BaseChatModel | None,
    doubtful: Sequence[MergedFinding],
    files: Mapping[str, str],
    min_confidence: int,
) -> tuple[tuple[MergedFinding, ...], Usage]:
    """Return the findings that hold, with the team's least confidence, and the usage of the call.

    Without a model, or where it fails, none is kept: they are below the threshold.
    """
    if not doubtful or model is None:
        return (), Usage()
    shown = [(each, _show_place(each, files)) for each in doubtful]
    remark, look, spent = "", SecondLook(), Usage()
    try:
        reply = await ask_model(
            model, SecondLook, build_second_look_messages(shown), purpose="second look"
        )
        look, spent = reply.value, reply.usage
    except ModelError as error:
        remark, spent = f"the second look failed: {error}", error.usage or Usage()
    except UnreadableReply as error:
        remark, spent = "the second look could not be read", error.usage
    rulings = {ruling.finding: ruling for ruling in look.rulings}
    kept = tuple(
        each.model_copy(update={"confidence": min_confidence})
        for number, each in enumerate(doubtful, 1)
        if (ruling := rulings.get(number)) and ruling.holds
    )
    await emit(
        "second_look",
        findings=[
            {
                "message": each.message,
                "file": each.file,
                "line": each.line,
                "kept": bool((ruling := rulings.get(number)) and ruling.holds),
                "reason": ruling.reason if (ruling := rulings.get(number)) else remark,
            }
            for number, each in enumerate(doubtful, 1)
        ],
    )
    return kept, spent


def _show_place(finding: MergedFinding, files: Mapping[str, str]) -> str:
    """Return the lines around a finding, numbered; of a diff, those of the file's part of it."""
    for name, text in files.items():
        lines = text.splitlines()
        if name == finding.file or name.endswith(f"/{finding.file}"):
            return _number_lines(lines, (finding.line or 1) - 1)
        starts = [at for at, line in enumerate(lines) if finding.file and finding.file in line]
        if starts:
            return _number_lines(lines, starts[0] + (finding.line or 0), LINES_AROUND * 3)
    return ""


def _number_lines(lines: Sequence[str], at: int, around: int = LINES_AROUND) -> str:
    first = max(0, at - around)
    shown = lines[first : at + around + 1]
    return "\n".join(f"{number}: {line[:300]}" for number, line in enumerate(shown, first + 1))
