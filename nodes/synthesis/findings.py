"""Merges the findings of all reports into one list; the strong tier looks once at doubtful ones."""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, get_args

from langchain_core.language_models import BaseChatModel

from nodes.errors import ModelError
from nodes.limits.patterns import Pattern
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.prompts.checks import build_second_look_messages
from nodes.schemas.replies import SecondLook
from nodes.telemetry.events import emit
from nodes.text.terms import extract_terms, measure_overlap
from state import MergedFinding, Report, Severity, Tier, Usage

MAX_LINES_APART = 3
"""Maximum distance of two findings in one file that are about the same place."""
MIN_OVERLAP = 0.5
"""Minimum share of the shorter message's terms in both messages for the same topic."""
MIN_SHARED = 2
"""Minimum number of terms in both messages, unless their terms are equal."""

_RULE_NAME = Pattern(r"\[([A-Za-z][\w-]*+)[^\[\]]*+\]$")
"""The rule or check of a finding, if its message ends with one in brackets."""
_SEVERITY_RANKS = {severity: rank for rank, severity in enumerate(get_args(Severity))}


_extract_terms_cached = lru_cache(maxsize=2000)(extract_terms)


def collect_findings(
    reports: Iterable[Report], *, min_confidence: int
) -> tuple[MergedFinding, ...]:
    """Return the findings of the reports, merged, ranked and of enough or unknown confidence.

    One of unknown confidence is kept: a defect must not disappear because a model left out a
    number. The reader is shown that its confidence is unknown.
    """
    findings = [
        MergedFinding(**dict(finding), reporters=(report.task,))
        for report in reports
        for finding in report.findings
    ]
    return tuple(
        each
        for each in merge_findings(findings)
        if each.confidence is None or each.confidence >= min_confidence
    )


def merge_findings(findings: Sequence[MergedFinding]) -> tuple[MergedFinding, ...]:
    """Return the findings with duplicates merged, ranked by severity, then confidence.

    An unknown confidence ranks below all known ones. A merged finding has the message of its most
    severe member, the highest severity and confidence, and all reporters. The order of the findings
    does not matter, and merging again changes nothing.
    """
    by_file: dict[str, list[MergedFinding]] = {}
    for finding in findings:
        by_file.setdefault(posixpath.normpath(finding.file), []).append(finding)
    kept = [finding for group in by_file.values() for finding in _merge_until_stable(group)]
    return tuple(sorted(kept, key=_rank_finding))


def _merge_until_stable(findings: list[MergedFinding]) -> list[MergedFinding]:
    """Return one file's findings, merged until all differ; same lines merge first."""
    count = -1
    while count != len(findings):
        count = len(findings)
        for lines_apart in (0, MAX_LINES_APART):
            findings = _merge_once(findings, lines_apart)
    return findings


def _merge_once(findings: Iterable[MergedFinding], lines_apart: int) -> list[MergedFinding]:
    heads = list[MergedFinding]()
    for finding in sorted(findings, key=_rank_finding):
        same = (at for at, head in enumerate(heads) if _is_same_finding(head, finding, lines_apart))
        at = next(same, None)
        if at is None:
            heads.append(finding)
        else:
            heads[at] = _merge_pair(heads[at], finding)
    return heads


def _merge_pair(head: MergedFinding, other: MergedFinding) -> MergedFinding:
    reporters = tuple(sorted({*head.reporters, *other.reporters}))
    known = [each.confidence for each in (head, other) if each.confidence is not None]
    confidence = max(known, default=None)
    return head.model_copy(update={"reporters": reporters, "confidence": confidence})


def _is_same_finding(left: MergedFinding, right: MergedFinding, lines_apart: int) -> bool:
    """Return whether two findings of one file are the same; for one worker, only exact repeats."""
    if set(left.reporters) & set(right.reporters):
        return left.line == right.line and _extract_terms_cached(
            left.message
        ) == _extract_terms_cached(right.message)
    return _is_near(left.line, right.line, lines_apart) and _is_same_topic(
        left.message, right.message
    )


def _is_near(left: int | None, right: int | None, lines_apart: int) -> bool:
    if left is None or right is None:
        return left is right
    return abs(left - right) <= lines_apart


def _is_same_topic(left: str, right: str) -> bool:
    rules = [match[1] for text in (left, right) if (match := _RULE_NAME.search(text))]
    if len(set(rules)) > 1:
        return False
    ours, theirs = _extract_terms_cached(left), _extract_terms_cached(right)
    if ours == theirs:
        return bool(ours) or left == right
    return len(ours & theirs) >= MIN_SHARED and measure_overlap(ours, theirs) >= MIN_OVERLAP


def _rank_finding(finding: MergedFinding) -> tuple[int, int, str, int, str]:
    place = (finding.file, finding.line or 0)
    return (
        _SEVERITY_RANKS[finding.severity],
        1 if finding.confidence is None else -finding.confidence,
        *place,
        finding.model_dump_json(),
    )


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
    judged = [(each, rulings.get(number)) for number, each in enumerate(doubtful, 1)]
    described = [
        {
            "message": each.message,
            "file": each.file,
            "line": each.line,
            "kept": ruling is not None and ruling.holds,
            "reason": ruling.reason if ruling else remark,
        }
        for each, ruling in judged
    ]
    await emit("second_look", findings=described)
    sure = {"confidence": min_confidence}
    kept = tuple(each.model_copy(update=sure) for each, it in judged if it and it.holds)
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
