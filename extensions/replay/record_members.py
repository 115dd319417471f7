"""The file of a record: a gzip member for each process that worked on the run, of lines."""

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from graph.runs.trace import get_draft_path
from nodes.security.private_files import open_private_file

MAX_PLAIN_BYTES: Final = 200_000_000
"""Of a record, before and after decompression: no more is written or read."""
MAX_LINE_BYTES: Final = 40_000_000
MAX_MEMBERS: Final = 1_000
GZIP: Final = 31
"""zlib's `wbits` of a gzip member."""
LEVEL: Final = 3
_CHUNK: Final = 1 << 20


class RecordTooLarge(ValueError):
    """A record has more bytes, parts or values than one may have."""


def read_lines(path: Path, max_members: int = MAX_MEMBERS) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of all gzip members; an empty one where a member has no end.

    Beside each is whether something is lost there: a part of a line, or all that follows.

    Raises:
        RecordTooLarge: it has more bytes or members, or a longer line, than a record may have.
    """
    total, members, is_open, is_ended = 0, 0, False, True
    if path.stat().st_size > MAX_PLAIN_BYTES:
        raise RecordTooLarge(f"it has more than {MAX_PLAIN_BYTES:,} bytes")
    with path.open("rb") as file:
        unzip, rest, data = zlib.decompressobj(GZIP), b"", file.read(_CHUNK)
        while data:
            try:
                plain = unzip.decompress(data, _CHUNK)
            except zlib.error:
                yield b"", True
                return
            total += len(plain)
            *lines, rest = (rest + plain).split(b"\n")
            is_open = not (lines or unzip.eof)
            yield from ((line, False) for line in lines if line)
            data, is_ended = unzip.unconsumed_tail, unzip.eof
            if unzip.eof:
                if rest:
                    yield b"", True
                data, unzip, rest = unzip.unused_data, zlib.decompressobj(GZIP), b""
                members += 1
            if total > MAX_PLAIN_BYTES or len(rest) > MAX_LINE_BYTES or members > max_members:
                raise RecordTooLarge(f"it has more than {MAX_PLAIN_BYTES:,} bytes, or a long line")
            data = data or file.read(_CHUNK)
    if rest or not is_ended:
        yield b"", bool(rest or is_open)


def finish_last_member(path: Path) -> int:
    """Write a file again whose end a kill has cut short, so that another member may follow.

    Return the bytes of all members, after decompression.

    Raises:
        OSError: the file cannot be written.
        RecordTooLarge: it has as many bytes or members as a record may have.
    """
    if not path.exists():
        return 0
    size, is_whole = 0, True
    for line, _ in read_lines(path, MAX_MEMBERS - 1):
        is_whole &= bool(line)
        size += len(line) + 1 if line else 0
    if not is_whole:
        _write_again(path)
    return size


def _write_again(path: Path) -> None:
    draft = get_draft_path(path)
    try:
        with open(draft, "wb", opener=open_private_file) as file:
            with gzip.GzipFile("", "wb", LEVEL, file) as zipped:
                for line, _ in read_lines(path, MAX_MEMBERS - 1):
                    if line:
                        zipped.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
