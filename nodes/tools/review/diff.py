"""A unified diff as data: which lines of which files it adds and removes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk as ParsedHunk
from unidiff.patch import PatchedFile, PatchSet

from nodes.limits.patterns import Pattern
from nodes.tools.plain_text import plain_line

MAX_FILES = 300
MAX_LINES = 20_000
"""Of the new side, context included, over all files; what is beyond is named and not read."""
MAX_PATH_CHARS = 200
PYTHON = (".py", ".pyi", ".pyw")

_HEADER = Pattern(r"^(?:diff --git |diff --cc |diff --combined |diff -|Index: )", re.MULTILINE)
_NAMES = Pattern(r"^--- [^\n]*\n\+\+\+ [^\n]*\n(?=@@ -)", re.MULTILINE)
_TARGET = Pattern(r"^(?:\+\+\+ |diff --git \S+ |diff --cc |Index: )([^\n\t]+)", re.MULTILINE)
_HUNK = Pattern(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@.*$", re.MULTILINE)
_MARKS = (" ", "+", "-")
_UNREADABLE = (UnidiffParseError, ValueError, AssertionError)
_BINARY = Pattern(r"^(?:GIT binary patch|Binary files .* differ)$", re.MULTILINE)


@dataclass(frozen=True)
class Hunk:
    """One changed place of a file."""

    start: int
    """Number of its first line in the new file."""
    lines: tuple[str, ...]
    """The new side, context included."""
    added: frozenset[int]
    """Numbers of the lines that the diff adds or changes, in the new file."""
    old_start: int
    old_lines: tuple[str, ...]
    removed: frozenset[int]
    """Numbers of the lines that the diff takes away, in the old file."""
    section: str = ""
    """The line before it that git shows for orientation: the head of a class or function."""


@dataclass(frozen=True)
class ChangedFile:
    """A file of the diff, by its new name."""

    path: str
    old_path: str
    hunks: tuple[Hunk, ...]
    is_new: bool
    whole: str | None = None
    """The new file's text, where it is known."""

    @property
    def is_python(self) -> bool:
        return self.path.lower().endswith(PYTHON)

    @cached_property
    def added(self) -> dict[int, str]:
        """Give the lines that the diff adds or changes, by their number in the new file."""
        return {
            number: line
            for hunk in self.hunks
            for number, line in enumerate(hunk.lines, hunk.start)
            if number in hunk.added
        }

    @cached_property
    def gone(self) -> frozenset[str]:
        """Give the lines that the diff takes away, without their indentation."""
        return frozenset(line.strip() for line in self.removed.values())

    @cached_property
    def removed(self) -> dict[int, str]:
        """Give the lines that the diff takes away, by their number in the old file."""
        return {
            number: line
            for hunk in self.hunks
            for number, line in enumerate(hunk.old_lines, hunk.old_start)
            if number in hunk.removed
        }


@dataclass(frozen=True)
class Change:
    """A whole diff, and in words what of it could not be read or was too much."""

    files: tuple[ChangedFile, ...]
    unread: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    """What there is no need to read, or no use for, in words."""
    is_broken: bool = False
    """Nothing could be read, though there was something."""


def read_diff(text: str) -> Change:
    """Read a diff file by file, so that one that cannot be read does not hide the others."""
    files, unread, binary = list[ChangedFile](), list[str](), list[str]()
    for part in _parts(text):
        if _BINARY.search(part) and not _NAMES.search(part):
            binary.append(_named(part))
            continue
        found, problem = _parsed(part)
        files += found
        unread += [problem] * bool(problem)
    is_broken = bool(unread) and not files
    passed_over = [f"Binary files are not reviewed: {listed(binary)}"] * bool(binary)
    kept, cut = _capped(files)
    return Change(tuple(kept), (*unread, *cut), tuple(passed_over), is_broken)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Name files in a line; of many, the first ones and how many more."""
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _parts(text: str) -> list[str]:
    """Cut a diff where a file begins; the lines of hunks cannot be mistaken for that.

    A header of git's and the two lines of names below it begin one file together.
    """
    starts = list[int]()
    marks = [(found.start(), True) for found in _HEADER.finditer(text)]
    marks += [(found.start(), False) for found in _NAMES.finditer(text)]
    is_header_open = False
    for at, is_header in sorted(marks):
        if is_header or not is_header_open:
            starts.append(at)
        is_header_open = is_header
    return [text[at:end] for at, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _parsed(part: str) -> tuple[list[ChangedFile], str]:
    """Read one file's part; where its last hunk is cut off or broken, as far as that goes."""
    try:
        return list(_files(part)), ""
    except _UNREADABLE as error:
        reason = plain_line(str(error), 80) or type(error).__name__
        problem = f"`{_named(part)}` cannot be read to its end as a diff: {reason}"
    try:
        return [replace(file, is_new=False) for file in _files(_mended(part))], problem
    except _UNREADABLE:
        return [], problem


def _mended(part: str) -> str:
    """End the last hunk where its lines end, and let its head say so."""
    heads = list(_HUNK.finditer(part))
    if not heads:
        return ""
    head = heads[-1]
    body = list(takewhile(lambda line: line[:1] in _MARKS, part[head.end() + 1 :].split("\n")))
    old = sum(line[0] in " -" for line in body)
    new = sum(line[0] in " +" for line in body)
    lines = "".join(f"{line}\n" for line in body)
    return f"{part[: head.start()]}@@ -{head[1]},{old} +{head[2]},{new} @@\n{lines}"


def _files(part: str) -> Iterator[ChangedFile]:
    if part.startswith(("diff --cc ", "diff --combined ")):
        raise ValueError("it is the combined diff of a merge; give a diff against one parent")
    for patched in _patch_set(part):
        # A change of name or mode alone has no lines.
        if not patched and "\n@@" in part:
            raise ValueError("the head of a hunk is broken")
        if patched:
            yield ChangedFile(
                path=plain_line(patched.path, MAX_PATH_CHARS),
                old_path=plain_line(_old_path(patched), MAX_PATH_CHARS),
                hunks=tuple(map(_hunk, patched)),
                is_new=patched.is_added_file,
            )


def _patch_set(part: str) -> PatchSet:
    try:
        return PatchSet(part)
    except _UNREADABLE:
        # Names that git quotes disagree with its own header; the lines below say all there is.
        names = _NAMES.search(part)
        if names is None or names.start() == 0:
            raise
        return PatchSet(part[names.start() :])


def _old_path(patched: PatchedFile) -> str:
    """Give the old side's name, with git's prefix dropped as the library does for the new one."""
    source = patched.source_file.strip('"')
    is_prefixed = patched.target_file.strip('"')[2:] == patched.path
    return patched.path if source == "/dev/null" else source[2:] if is_prefixed else source


def _hunk(hunk: ParsedHunk) -> Hunk:
    new = [line for line in hunk if line.is_context or line.is_added]
    old = [line for line in hunk if line.is_context or line.is_removed]
    return Hunk(
        start=hunk.target_start,
        lines=tuple(line.value.rstrip("\r\n") for line in new),
        added=frozenset(line.target_line_no or 0 for line in new if line.is_added),
        old_start=hunk.source_start,
        old_lines=tuple(line.value.rstrip("\r\n") for line in old),
        removed=frozenset(line.source_line_no or 0 for line in old if line.is_removed),
        section=hunk.section_header.strip(),
    )


def _capped(files: list[ChangedFile]) -> tuple[list[ChangedFile], list[str]]:
    kept, cut, left = list[ChangedFile](), list[str](), MAX_LINES
    for file in sorted(files, key=lambda file: not file.is_python):
        size = sum(len(hunk.lines) for hunk in file.hunks)
        if size <= left and len(kept) < MAX_FILES:
            kept.append(file)
        elif left and len(kept) < MAX_FILES:
            hunks = tuple(_first_lines(file.hunks, left))
            kept.append(replace(file, hunks=hunks, is_new=False))
            cut.append(f"{file.path} (its end)")
        else:
            cut.append(file.path)
        left = max(0, left - size)
    if not cut:
        return kept, []
    most = f"The diff has more than {MAX_LINES:,} lines or {MAX_FILES} files"
    return kept, [f"{most}; not reviewed: {listed(cut)}"]


def _first_lines(hunks: Iterable[Hunk], most: int) -> Iterator[Hunk]:
    for hunk in hunks:
        if most <= 0:
            return
        lines = hunk.lines[:most]
        end = hunk.start + len(lines)
        added = frozenset(number for number in hunk.added if number < end)
        yield replace(hunk, lines=lines, added=added)
        most -= len(lines)


def _named(part: str) -> str:
    found = _TARGET.search(part)
    name = found.group(1).strip().strip('"') if found else part.split("\n", 1)[0]
    name = name.removeprefix("b/")
    return plain_line(name, MAX_PATH_CHARS) or "a file"
