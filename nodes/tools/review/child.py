"""The child process that reviews: it reads the diff, runs one lens, and ends."""

from pathlib import Path
from typing import Any

from nodes.tools.review.answer import handed_back, scope, told
from nodes.tools.review.diff import Change, read_diff
from nodes.tools.review.given import sort
from nodes.tools.review.lenses import LENSES, Matter, sources_of
from nodes.tools.review.whole import completed
from nodes.tools.serving import serve

MAX_WRITTEN_BYTES = 20_000_000
"""Of one file for the linters."""


def review(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{lens, materials, diff, repository, folder}` in the report's own words."""
    given = sort(request["materials"], request["diff"])
    root = Path(request["repository"]) if request["repository"] else None
    read = [read_diff(text) for text in given.diffs.values()]
    change = Change(
        tuple(file for one in read for file in one.files),
        tuple(dict.fromkeys(words for one in read for words in one.unread)),
        tuple(dict.fromkeys(words for one in read for words in one.passed_over)),
    )
    if all(one.is_broken for one in read):
        return handed_back("ambiguous_input", "; ".join(change.unread))
    change = completed(change, given.sources, root)
    is_python_read = request["lens"] != "history"
    sources, lost = sources_of(change) if is_python_read else ([], [])
    matter = Matter(change, given, sources, Path(request["folder"]), root)
    seen = LENSES[request["lens"]](matter)
    gaps = [*(scope(change, lost) if is_python_read else []), *seen.gaps]
    return told(
        change,
        seen.findings,
        names=list(given.diffs),
        tools=seen.tools,
        gaps=gaps,
        failures=seen.failures,
        remarks=seen.remarks,
    )


if __name__ == "__main__":
    serve(review, max_written_bytes=MAX_WRITTEN_BYTES)
