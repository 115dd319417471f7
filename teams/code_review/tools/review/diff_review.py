"""Review diffs by one lens; this runs in a child process."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import Any

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport
from nodes.tools.linting.finding import SEVERITIES, ReviewFinding
from nodes.tools.linting.rules import Lens

from .diff import ParsedDiff, format_names, read_diff
from .diff_materials import sort_materials
from .fragments import build_fragments
from .full_text import attach_full_texts
from .hits import MIN_SURE_CONFIDENCE, list_waived_lines
from .lenses import LENSES, LensInput, LensResult

MAX_HINTS = 10
MAX_CHARS = 16_000
"""Limit on all findings as JSON."""
NOTHING_ADDED = "The diff adds no lines that could be reviewed"


def review_diffs(
    *,
    lens: Lens,
    materials: Mapping[str, str],
    diffs: Sequence[str],
    paths: Sequence[str],
    repository: str,
) -> dict[str, Any]:
    """Return the report of a lens on the named diffs.

    Raises:
        ToolRefused: nothing in them can be read, or they change none of the paths.
    """
    root = Path(repository) if repository else None
    given = sort_materials(materials, diffs)
    change = _select_paths(_read_diffs([materials[name] for name in diffs]), paths)
    change = attach_full_texts(change, given.sources, root)
    python = [file for file in change.files if file.is_python and file.added]
    built = {} if lens == "history" else {file.path: build_fragments(file) for file in python}
    fragments = [fragment for made, _ in built.values() for fragment in made]
    seen = LENSES[lens](LensInput(change, given, fragments, root))
    report = ToolReport(failures=[*change.unread_parts, *seen.failures])
    report.gaps += change.skipped_parts
    if lens != "history":
        report.gaps += _list_scope_gaps(change, [path for path, (_, lost) in built.items() if lost])
    report.gaps += seen.gaps
    _add_findings(report, seen)
    if not any(file.added for file in change.files):
        report.gaps.append(NOTHING_ADDED)
    report.add_claim(f"{', '.join(diffs)} {_describe_size(change)}.", diffs[0])
    return report.to_json()


def _read_diffs(texts: Sequence[str]) -> ParsedDiff:
    read = [read_diff(text) for text in texts]
    change = ParsedDiff(
        tuple(file for one in read for file in one.files),
        tuple(dict.fromkeys(part for one in read for part in one.unread_parts)),
        tuple(dict.fromkeys(part for one in read for part in one.skipped_parts)),
    )
    if change.unread_parts and not change.files:
        raise ToolRefused("; ".join(change.unread_parts))
    return change


def _select_paths(change: ParsedDiff, paths: Sequence[str]) -> ParsedDiff:
    """Return the change of some files, named by their path, its end, or a folder."""
    if not paths:
        return change
    wanted = [PurePosixPath(path) for path in paths]
    files = tuple(
        file
        for file in change.files
        if any(
            f"/{file.path}".endswith(f"/{path}") or PurePosixPath(file.path).is_relative_to(path)
            for path in wanted
        )
    )
    if not files:
        changed = format_names(file.path for file in change.files)
        raise ToolRefused(f"the diff changes none of {format_names(paths)}; it changes {changed}")
    return replace(change, files=files)


def _add_findings(report: ToolReport, seen: LensResult) -> None:
    """Add what was found, the gravest first, up to a size; hints come last."""
    ranked = sorted(seen.findings, key=_rank)
    sure = [finding for finding in ranked if finding.confidence >= MIN_SURE_CONFIDENCE]
    hints = ranked[len(sure) :]
    size = 0
    for number, finding in enumerate([*sure, *hints[:MAX_HINTS]]):
        size += len(json.dumps(asdict(finding))) + 2
        if size > MAX_CHARS:
            cut = format_count(max(0, len(sure) - number), "more finding")
            report.gaps.append(f"{cut} by {seen.tools} left out; the gravest are listed")
            break
        report.findings.append(asdict(finding))
    if seen.tools:
        counts = Counter(finding.severity for finding in sure)
        words = ", ".join(f"{counts[name]} {name}" for name in SEVERITIES if counts[name])
        shown = f"{format_count(len(sure), 'finding')} ({words})" if sure else "No findings"
        weak = f"; {format_count(len(hints), 'hint')} below a confidence of {MIN_SURE_CONFIDENCE}"
        report.lines.append(f"{shown} by {seen.tools}{weak * bool(hints)}.")
    report.lines += seen.remarks


def _rank(finding: ReviewFinding) -> tuple[bool, int, int, str, int]:
    is_hint = finding.confidence < MIN_SURE_CONFIDENCE
    severity = SEVERITIES.index(finding.severity)
    return is_hint, severity, -finding.confidence, finding.file, finding.line or 0


def _list_scope_gaps(change: ParsedDiff, lost: Sequence[str]) -> list[str]:
    """Return which parts of the change no rule for Python could check."""
    python = [file for file in change.files if file.is_python and file.added]
    parts = {
        "Not Python, so read for secrets and merge markers only: ": [
            file.path for file in change.files if not file.is_python and file.added
        ],
        "Parts that are not Python by themselves were left out: ": lost,
        "Unused imports, undefined names and the like were not looked for, as only a part is "
        "known (give the whole files too, or set SUPERVISE_REPOSITORY): ": [
            file.path for file in python if file.full_text is None
        ],
        "Lines that say `noqa` were passed over, but for security: ": [
            f"{file.path}:{line}" for file in python for line in list_waived_lines(file)
        ],
    }
    return [f"{said}{format_names(names)}" for said, names in parts.items() if names]


def _describe_size(change: ParsedDiff) -> str:
    added = sum(len(file.added) for file in change.files)
    removed = sum(len(file.removed) for file in change.files)
    files = format_count(len(change.files), "file")
    return f"adds {format_count(added, 'line')} and removes {removed} in {files}"
