"""The child process of a review: it reads the diff, runs one lens, and ends."""

from pathlib import Path
from typing import Any

from .diff import ParsedDiff, read_diff
from .diff_materials import sort_materials
from .full_text import attach_full_texts
from .lens_report import build_escalation, build_report, list_scope_gaps
from .lenses import LENSES, LensInput, build_sources


def review_diffs(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{lens, materials, diff, repository, folder}` with a report."""
    given = sort_materials(request["materials"], request["diff"])
    root = Path(request["repository"]) if request["repository"] else None
    read = [read_diff(text) for text in given.diffs.values()]
    change = ParsedDiff(
        tuple(file for one in read for file in one.files),
        tuple(dict.fromkeys(words for one in read for words in one.unread_parts)),
        tuple(dict.fromkeys(words for one in read for words in one.skipped_parts)),
    )
    if all(one.is_unreadable for one in read):
        return build_escalation("ambiguous_input", "; ".join(change.unread_parts))
    change = attach_full_texts(change, given.sources, root)
    is_python_read = request["lens"] != "history"
    sources, lost = build_sources(change) if is_python_read else ([], [])
    matter = LensInput(change, given, sources, Path(request["folder"]), root)
    seen = LENSES[request["lens"]](matter)
    gaps = [*(list_scope_gaps(change, lost) if is_python_read else []), *seen.gaps]
    return build_report(
        change,
        seen.findings,
        names=list(given.diffs),
        tools=seen.tools,
        gaps=gaps,
        failures=seen.failures,
        remarks=seen.remarks,
    )
