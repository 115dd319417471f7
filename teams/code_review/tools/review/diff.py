"""Parse a unified diff: which lines of which files it adds and removes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk as ParsedHunk
from unidiff.patch import Line, PatchSet

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import join_names

MAX_LINES = 20_000
"""Lines of the new side, with context, over all files; the excess is named and not read."""
MAX_PATH_CHARS = 200
PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")

_HEADER = Pattern(r"^(?:diff --git |diff --cc |diff --combined |diff -|Index: )", re.MULTILINE)
_NAME_LINES = Pattern(r"^--- [^\n]*\n\+\+\+ [^\n]*\n(?=@@ -)", re.MULTILINE)
_TARGET_NAME = Pattern(r"^(?:\+\+\+ |diff --git \S+ |diff --cc |Index: )([^\n\t]+)", re.MULTILINE)
_PARSE_ERRORS = (UnidiffParseError, ValueError, AssertionError)
_BINARY = Pattern(r"^(?:GIT binary patch|Binary files .* differ)$", re.MULTILINE)


@dataclass(frozen=True)
class Hunk:
    """One changed region of a file."""

    start: int
    """Number of its first line in the new file."""
    lines: tuple[str, ...]
    """The new side, context included."""
    added: Mapping[int, str]
    """The lines that the diff adds or changes, by their number in the new file."""
    old_start: int
    old_lines: tuple[str, ...]
    removed: Mapping[int, str]
    """The lines that the diff takes away, by their number in the old file."""
    section: str = ""
    """The line before it that git shows for orientation: the head of a class or function."""


@dataclass(frozen=True)
class ChangedFile:
    """A file of the diff, by its new name."""

    path: str
    old_path: str
    hunks: tuple[Hunk, ...]
    is_new: bool
    full_text: str | None = None
    """The new file's text, where it is known."""

    @property
    def is_python(self) -> bool:
        return self.path.lower().endswith(PYTHON_SUFFIXES)

    @cached_property
    def added(self) -> dict[int, str]:
        """Return the lines that the diff adds or changes, by their number in the new file."""
        return {number: line for hunk in self.hunks for number, line in hunk.added.items()}

    @cached_property
    def removed(self) -> dict[int, str]:
        """Return the lines that the diff removes, by their number in the old file."""
        return {number: line for hunk in self.hunks for number, line in hunk.removed.items()}

    @cached_property
    def removed_texts(self) -> frozenset[str]:
        """Return the lines that the diff removes, without their indentation."""
        return frozenset(line.strip() for line in self.removed.values())


@dataclass(frozen=True)
class ParsedDiff:
    """A whole diff, and what of it could not be read or exceeded the limit."""

    files: tuple[ChangedFile, ...]
    unread_parts: tuple[str, ...] = ()
    skipped_parts: tuple[str, ...] = ()
    """What need not be read, or has no use, in words."""


def read_diff(text: str) -> ParsedDiff:
    """Read a diff file by file, so that one unreadable file does not hide the others."""
    files, unread, binary = list[ChangedFile](), list[str](), list[str]()
    for part in _split_files(text):
        if _BINARY.search(part) and not _NAME_LINES.search(part):
            binary.append(_get_file_name(part))
            continue
        try:
            files += _read_files(part)
        except _PARSE_ERRORS as error:
            name, reason = _get_file_name(part), sanitize_line(str(error), 80)
            unread.append(f"`{name}` cannot be read as a diff: {reason}")
    skipped = [f"Binary files are not reviewed: {format_names(binary)}"] * bool(binary)
    kept, cut = _limit_lines(files)
    return ParsedDiff(tuple(kept), (*unread, *cut), tuple(skipped))


def format_names(names: Iterable[str]) -> str:
    """Return names of files on a line, as code: a diff may have any text in them."""
    return join_names(map(format_as_code, names))


def _split_files(text: str) -> list[str]:
    """Split a diff where a file begins; the lines of hunks are never mistaken for that.

    A git header and the two lines of names below it together begin one file.
    """
    starts = list[int]()
    marks = [(found.start(), True) for found in _HEADER.finditer(text)]
    marks += [(found.start(), False) for found in _NAME_LINES.finditer(text)]
    is_header_open = False
    for at, is_header in sorted(marks):
        if is_header or not is_header_open:
            starts.append(at)
        is_header_open = is_header
    return [text[at:end] for at, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _read_files(part: str) -> list[ChangedFile]:
    if part.startswith(("diff --cc ", "diff --combined ")):
        raise ValueError("it is the combined diff of a merge; give a diff against one parent")
    # A change of name or mode alone has no lines.
    patches = [patched for patched in PatchSet(part) if patched]
    if not patches and "\n@@" in part:
        raise ValueError("the head of a hunk is broken")
    return [
        ChangedFile(
            path=sanitize_line(each.path, MAX_PATH_CHARS),
            old_path=sanitize_line(
                each.source_file[2:] if each.is_rename else each.path, MAX_PATH_CHARS
            ),
            hunks=tuple(map(_convert_hunk, each)),
            is_new=each.is_added_file,
        )
        for each in patches
    ]


def _convert_hunk(hunk: ParsedHunk) -> Hunk:
    new = [(one.target_line_no or 0, _get_text(one), one.is_added) for one in hunk.target_lines()]
    old = [(one.source_line_no or 0, _get_text(one), one.is_removed) for one in hunk.source_lines()]
    return Hunk(
        start=hunk.target_start,
        lines=tuple(text for _, text, _ in new),
        added={number: text for number, text, is_added in new if is_added},
        old_start=hunk.source_start,
        old_lines=tuple(text for _, text, _ in old),
        removed={number: text for number, text, is_removed in old if is_removed},
        section=hunk.section_header.strip(),
    )


def _get_text(line: Line) -> str:
    return line.value.rstrip("\r\n")


def _limit_lines(files: list[ChangedFile]) -> tuple[list[ChangedFile], list[str]]:
    """Return the files up to the limit, Python first and then the shortest, and the others."""
    sizes = {id(file): sum(len(hunk.lines) for hunk in file.hunks) for file in files}
    ranked = sorted(files, key=lambda file: (not file.is_python, sizes[id(file)]))
    totals = accumulate(sizes[id(file)] for file in ranked)
    cut = [file for file, total in zip(ranked, totals, strict=True) if total > MAX_LINES]
    names, cut_ids = format_names(file.path for file in cut), set(map(id, cut))
    said = f"The diff has more than {MAX_LINES:,} lines; not reviewed: {names}"
    return [file for file in files if id(file) not in cut_ids], [said] * bool(cut)


def _get_file_name(part: str) -> str:
    found = _TARGET_NAME.search(part)
    name = found.group(1).strip().strip('"') if found else part.split("\n", 1)[0]
    name = name.removeprefix("b/")
    return sanitize_line(name, MAX_PATH_CHARS) or "a file"
