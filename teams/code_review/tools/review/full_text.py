"""Find the whole files of a diff, where available: before the change or after it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from .diff import ChangedFile, ParsedDiff, format_names

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
