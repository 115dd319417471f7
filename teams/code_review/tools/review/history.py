"""Read the history of the changed files: who wrote the lines that are removed, and why.

The git program is not run, so that a repository's configuration cannot run anything.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from dulwich.annotate import update_lines
from dulwich.errors import NotGitRepository
from dulwich.objects import Blob, Commit, TreeEntry
from dulwich.repo import Repo

from extensions.tools.linting.rules import ReviewFinding
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_report import ToolReport

from .diff import ChangedFile, ParsedDiff

MAX_COMMITS = 2_000
"""The newest commits; older ones are not read."""
MAX_REMARKS = 10
MAX_BLOB_BYTES = 1_000_000
MAX_SECONDS = 12.0
MIN_DISTINCTIVE_CHARS = 12
"""Limit for a significant line; a bracket or `return` alone is frequent."""

UNDONE_FIX_CONFIDENCE = 85

_FIX_WORDS = Pattern(
    r"\b(?:fix(?:es|ed)?|bug|regression|security|vulnerab\w*|CVE-\d{4}-\d+|exploit|injection|crash)\b",
    re.IGNORECASE,
)
_SECURITY_WORDS = Pattern(
    r"\b(?:security|vulnerab\w*|CVE-\d{4}-\d+|exploit|injection)\b", re.IGNORECASE
)

_REVIEW_WORDS = Pattern(
    r"\breview(?:er)?(?:'?s)? (?:comment|feedback|finding|note|remark|suggestion)s?\b"
    r"|\b(?:comment|feedback|finding|note|remark|suggestion)s? from (?:\w{1,20} )?review\b",
    re.IGNORECASE,
)

BlamedLines = list[tuple[tuple[Commit, TreeEntry], bytes]]


@dataclass(frozen=True)
class FileVersion:
    """A file as of a commit."""

    commit: Commit
    entry: TreeEntry
    blob: Blob


def review_history(change: ParsedDiff, root: Path, report: ToolReport) -> list[ReviewFinding]:
    """Return findings; add a remark on each file to the report, and what was not read.

    Raises:
        ToolRefused: the folder is not a repository, or has no commit.
    """
    paths = {file.old_path.encode(): file for file in change.files}
    try:
        with Repo(str(root)) as repository:
            versions, gaps = _list_versions(repository, paths.keys())
    except (NotGitRepository, KeyError, OSError) as error:
        raise ToolRefused(f"{root} is not a git repository with a commit") from error
    known = [(paths[path], past) for path, past in versions.items()]
    report.gaps += gaps
    report.lines += [_summarize_history(file, past) for file, past in known[:MAX_REMARKS]]
    if len(known) > MAX_REMARKS:
        report.lines.append(f"- {len(known) - MAX_REMARKS} more files have a history.")
    return [found for file, past in known for found in _find_undone_fixes(file, past)]


def _list_versions(
    repository: Repo, paths: Set[bytes]
) -> tuple[dict[bytes, list[FileVersion]], list[str]]:
    """Return each file's versions, the newest first, and where the walk was stopped early."""
    versions: dict[bytes, list[FileVersion]] = {}
    gaps = list[str]()
    ends = monotonic() + MAX_SECONDS
    for number, step in enumerate(repository.get_walker(max_entries=MAX_COMMITS), start=1):
        for change in step.changes():
            new = None if isinstance(change, list) else change.new
            if new is None or new.path not in paths or new.sha is None:
                continue
            blob = repository.object_store[new.sha]
            if isinstance(blob, Blob) and len(blob.data) <= MAX_BLOB_BYTES:
                versions.setdefault(new.path, []).append(FileVersion(step.commit, new, blob))
            else:
                name = sanitize_line(new.path.decode(errors="replace"), 200)
                gaps.append(f"Versions of more than {MAX_BLOB_BYTES:,} bytes were left out: {name}")
        if number == MAX_COMMITS or monotonic() > ends:
            gaps.append(f"The history was read back to {_format_day(step.commit)} only")
            break
    return versions, list(dict.fromkeys(gaps))


def _summarize_history(file: ChangedFile, versions: Sequence[FileVersion]) -> str:
    commits = [version.commit for version in versions]
    authors = Counter(map(_get_author, commits)).most_common(2)
    return (
        f"- `{file.path}`: {len(commits)} commits, {sum(map(_is_fix, commits))} of them fixes, "
        f"mostly by {', '.join(name for name, _ in authors)}; the last is "
        f"{_describe_commit(commits[0])}."
    )


def _find_undone_fixes(
    file: ChangedFile, versions: Sequence[FileVersion]
) -> Iterator[ReviewFinding]:
    """Find lines that a fix, or the answer to a review, added and the diff removes."""
    annotated: BlamedLines = []
    for version in reversed(versions):
        annotated = update_lines(annotated, (version.commit, version.entry), version.blob)
    kept = {line.strip() for line in file.added.values()}
    blamed: dict[bytes, tuple[Commit, list[int]]] = {}
    for number, text in file.removed.items():
        if not _is_distinctive(text) or text.strip() in kept or number > len(annotated):
            continue
        (commit, _), line = annotated[number - 1]
        stands = line.decode("utf-8", errors="replace").strip() == text.strip()
        if stands and commit.parents and (_is_fix(commit) or _is_review(commit)):
            blamed.setdefault(commit.id, (commit, []))[1].append(number)
    for commit, numbers in blamed.values():
        lines = f"line {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} lines"
        yield ReviewFinding(
            severity="high" if _SECURITY_WORDS.search(_get_subject(commit)) else "medium",
            message=f"Takes away {lines} of the old file that "
            f"{'a fix' if _is_fix(commit) else 'a review'} brought: {_describe_commit(commit)}.",
            file=file.path,
            line=_locate_in_new_file(file, numbers[0]),
            suggestion="See that what was fixed then stays fixed."
            if _is_fix(commit)
            else "See that what the review asked for still holds.",
            confidence=UNDONE_FIX_CONFIDENCE,
        )


def _locate_in_new_file(file: ChangedFile, old_line: int) -> int | None:
    """Return the line of the new file where a removed line was."""
    for hunk in file.hunks:
        if old_line in hunk.removed:
            before = [n for n in hunk.added if n <= hunk.start + old_line - hunk.old_start]
            return max(before, default=hunk.start) or None
    return None


def _is_distinctive(text: str) -> bool:
    stripped = text.strip()
    is_code = not stripped.startswith(("#", "import ", "from "))
    return is_code and len(stripped) >= MIN_DISTINCTIVE_CHARS


def _is_fix(commit: Commit) -> bool:
    return _FIX_WORDS.search(_get_subject(commit)) is not None


def _is_review(commit: Commit) -> bool:
    """Return whether a commit answers a review, such as "Apply suggestions from code review"."""
    return _REVIEW_WORDS.search(_get_subject(commit)) is not None


def _get_subject(commit: Commit) -> str:
    message: str = commit.message.decode("utf-8", errors="replace")
    return message.strip().split("\n", 1)[0]


def _get_author(commit: Commit) -> str:
    name = commit.author.decode("utf-8", errors="replace").split("<")[0]
    return sanitize_line(name, 40) or "somebody"


def _describe_commit(commit: Commit) -> str:
    subject = sanitize_line(_get_subject(commit), 80)
    return (
        f"{commit.id.decode()[:10]} of {_format_day(commit)} by {_get_author(commit)}, “{subject}”"
    )


def _format_day(commit: Commit) -> str:
    return datetime.fromtimestamp(commit.commit_time, UTC).date().isoformat()
