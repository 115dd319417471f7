"""Sort a task's materials into diffs and others: whole files, and comments of earlier reviews."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import format_as_code, sanitize_line

from .diff import ChangedFile, ParsedDiff, format_names

DIFF_SUFFIXES = (".diff", ".patch")
_PROSE_SUFFIXES = (".md", ".markdown", ".rst", ".txt", ".docx", ".html", ".htm", ".pdf")
_CONFIGURATION_NAMES = ("pyproject.toml", "ruff.toml", ".ruff.toml")
_DIFF_START = Pattern(
    r"^(?:diff --(?:git|cc|combined) |--- [^\n]*\n\+\+\+ [^\n]*\n@@ -\d|Binary files )",
    re.MULTILINE,
)


@dataclass(frozen=True)
class ReviewMaterials:
    """The materials that are no diffs, sorted; each by its name."""

    configuration: dict[str, str] = field(default_factory=dict)
    prose: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    """Whole files, possibly of those that the diff changes."""


def list_diffs(materials: Mapping[str, str]) -> list[str]:
    """Return the names of the diffs, by suffix; a text of no certain kind may hold one."""
    return [
        name
        for name, text in materials.items()
        if (suffix := PurePosixPath(name.lower()).suffix) in DIFF_SUFFIXES
        or (suffix in ("", ".txt", ".log") and is_diff(text))
    ]


def is_diff(text: str) -> bool:
    """Return whether a text contains a unified diff."""
    return _DIFF_START.search(text) is not None


def sort_materials(materials: Mapping[str, str], diffs: Collection[str]) -> ReviewMaterials:
    """Sort the materials that are no diffs by their names."""
    found = ReviewMaterials()
    for name, text in materials.items():
        if PurePosixPath(name).name in _CONFIGURATION_NAMES:
            found.configuration[name] = text
        elif name.lower().endswith(_PROSE_SUFFIXES) and name not in diffs:
            found.prose[name] = text
        elif name not in diffs and PurePosixPath(name.lower()).suffix not in DIFF_SUFFIXES:
            found.sources[name] = text
    return found


MAX_REMARKS = 20
MAX_REMARK_CHARS = 240
NO_REPOSITORY_GAP = (
    "The history was not looked at: no repository is set (setting: SUPERVISE_REPOSITORY)"
)


def list_earlier_remarks(change: ParsedDiff, prose: Mapping[str, str]) -> list[str]:
    """Return the lines of prose that name a changed file, each with its place."""
    if not prose or not change.files:
        return []
    names = {file.path for file in change.files}
    names |= {PurePosixPath(name).name for name in names}
    wanted = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    named = Pattern(rf"(?<![\w.-])(?:{wanted})(?![\w-])")
    found = [
        f"- {format_as_code(name)}, line {number}: “{sanitize_line(line, MAX_REMARK_CHARS)}”"
        for name, text in prose.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if named.search(line)
    ]
    more = len(found) - MAX_REMARKS
    head = ["Other materials name the changed files:"] * bool(found)
    return [*head, *found[:MAX_REMARKS], *([f"- and {more} more lines"] if more > 0 else [])]


MAX_FILE_BYTES = 1_000_000


def attach_full_texts(
    change: ParsedDiff, texts: Mapping[str, str], root: Path | None
) -> ParsedDiff:
    """Attach to each file its text after the change, if that can be determined.

    For a new file it is all in the diff; otherwise it is searched among `texts` and in the folder
    `root`. A text must match the diff, as it is or with the diff applied to it.
    """
    files, misfits = list[ChangedFile](), list[str]()
    for file in change.files:
        if file.is_new and [hunk.start for hunk in file.hunks] == [1]:
            files.append(replace(file, full_text="\n".join([*file.hunks[0].lines, ""])))
            continue
        found = [
            text
            for name, text in texts.items()
            if f"/{file.path}".endswith(f"/{name}") or f"/{name}".endswith(f"/{file.path}")
        ]
        found += _read_from_folder(file, root)
        fitting = filter(None, (_derive_new_text(file, text) for text in found))
        files.append(replace(file, full_text=next(fitting, None)))
        misfits += [file.path] * bool(found and files[-1].full_text is None)
    said = f"Not used, as the diff does not fit its state: {format_names(misfits)}"
    skipped = (*change.skipped_parts, *[said] * bool(misfits))
    return replace(change, files=tuple(files), skipped_parts=skipped)


def _read_from_folder(file: ChangedFile, root: Path | None) -> Iterator[str]:
    """Read the file below a folder; a path that leads out of it is not followed."""
    if root is None:
        return
    try:
        path = root.resolve() / file.path
        is_inside = ".." not in path.parts and path.resolve().is_relative_to(root.resolve())
        if is_inside and path.is_file() and path.stat().st_size <= MAX_FILE_BYTES:
            yield path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return


def _derive_new_text(file: ChangedFile, text: str) -> str | None:
    lines = text.replace("\r\n", "\n").split("\n")
    if all(_has_lines_at(hunk.lines, lines, hunk.start) for hunk in file.hunks):
        return "\n".join(lines)
    if all(_has_lines_at(hunk.old_lines, lines, hunk.old_start) for hunk in file.hunks):
        return "\n".join(_apply_hunks(file, lines))
    return None


def _has_lines_at(wanted: Sequence[str], lines: Sequence[str], start: int) -> bool:
    at = max(0, start - 1)
    return list(wanted) == list(lines[at : at + len(wanted)])


def _apply_hunks(file: ChangedFile, lines: Sequence[str]) -> Iterable[str]:
    at = 0
    for hunk in file.hunks:
        # Without old lines, a hunk names the line before it.
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        yield from lines[at:start]
        yield from hunk.lines
        at = start + len(hunk.old_lines)
    yield from lines[at:]
