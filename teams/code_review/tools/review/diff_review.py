"""Review diffs by one lens; this runs in a child process."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from extensions.tools.linting.rules import SEVERITIES, Lens, ReviewFinding
from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .diff import ParsedDiff, format_names, read_diff
from .diff_materials import attach_full_texts, sort_materials
from .fragments import build_fragments
from .hits import MIN_SURE_CONFIDENCE, list_waived_lines
from .lenses import LENSES, LensInput

MAX_HINTS = 10
SHOWN_COUNTS = (200, 100, 50, 25)
"""Findings shown, fewer where they are too long together."""
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
    change = read_diff("\n".join(materials[name] for name in diffs))
    if change.unread_parts and not change.files:
        raise ToolRefused("; ".join(change.unread_parts))
    change = attach_full_texts(_select_paths(change, paths), given.sources, root)
    python = [file for file in change.files if file.is_python and file.added]
    built = {} if lens == "history" else {file.path: build_fragments(file) for file in python}
    fragments = [fragment for made, _ in built.values() for fragment in made]
    report = ToolReport(gaps=list(change.skipped_parts), failures=list(change.unread_parts))
    if lens != "history":
        lost = [path for path, (_, left_out) in built.items() if left_out]
        report.gaps += _list_scope_gaps(change, lost)
    tools, findings = LENSES[lens](LensInput(change, given, fragments, root, report))
    if not any(file.added for file in change.files):
        report.gaps.append(NOTHING_ADDED)
    report.add_claim(f"{', '.join(diffs)} {_describe_size(change)}.", diffs[0])
    return fit_to_size(lambda most: _add_findings(report, tools, findings, most), SHOWN_COUNTS)


def _select_paths(change: ParsedDiff, paths: Sequence[str]) -> ParsedDiff:
    """Return the change of some files, named by their path, its end, or a folder."""
    if not paths:
        return change
    wanted = [path.strip("/") for path in paths]
    files = tuple(
        file
        for file in change.files
        if any(f"/{file.path}".endswith(f"/{path}") for path in wanted)
        or any(file.path.startswith(f"{path}/") for path in wanted)
    )
    if not files:
        changed = format_names(file.path for file in change.files)
        raise ToolRefused(f"the diff changes none of {format_names(paths)}; it changes {changed}")
    return replace(change, files=files)


def _add_findings(
    report: ToolReport, tools: str, findings: Sequence[ReviewFinding], most: int
) -> ToolReport:
    """Return the report with what was found, the gravest first, and then some hints."""
    ranked = sorted(findings, key=_rank)
    sure = [finding for finding in ranked if finding.confidence >= MIN_SURE_CONFIDENCE]
    hints = ranked[len(sure) :]
    shown, gaps = [*sure[:most], *hints[:MAX_HINTS]], list(report.gaps)
    if len(sure) > most:
        more = format_count(len(sure) - most, "more finding")
        gaps.append(f"{more} by {tools} left out; the gravest are listed")
    counts = Counter(finding.severity for finding in sure)
    words = ", ".join(f"{counts[name]} {name}" for name in SEVERITIES if counts[name])
    told = f"{format_count(len(sure), 'finding')} ({words})" if sure else "No findings"
    weak = f"; {format_count(len(hints), 'hint')} below a confidence of {MIN_SURE_CONFIDENCE}"
    lines = [f"{told} by {tools}{weak * bool(hints)}.", *report.lines]
    return replace(report, lines=lines, findings=list(map(asdict, shown)), gaps=gaps)


def _rank(finding: ReviewFinding) -> tuple[int, int, str, int]:
    severity = SEVERITIES.index(finding.severity) + 10 * (finding.confidence < MIN_SURE_CONFIDENCE)
    return severity, -finding.confidence, finding.file, finding.line or 0


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
