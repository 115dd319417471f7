"""The file of a record: a gzip member for each process that worked on the run."""

import struct
import zlib
from pathlib import Path
from typing import BinaryIO, Final

MAX_PLAIN_BYTES: Final = 200_000_000
"""Of a record, before and after decompression: no more is written or read."""
MAX_LINE_BYTES: Final = 40_000_000
MAX_MEMBERS: Final = 1_000
GZIP: Final = 31
"""zlib's `wbits` of a gzip member."""
CHUNK: Final = 1 << 20
_SYNC_MARK: Final = b"\0\0\xff\xff"
"""Ends what is written at once."""
_LAST_BLOCK: Final = b"\x03\0"


class RecordTooLarge(ValueError):
    """A record has more bytes, parts or values than one may have."""


def finish_last_member(path: Path) -> int:
    """End a member that a kill has cut short, so that another one may follow; drop a damaged one.

    Return the bytes of all members, after decompression.

    Raises:
        OSError: the file cannot be written.
        RecordTooLarge: it has as many bytes or members as a record may have.
    """
    if not path.exists():
        return 0
    with path.open("rb+") as file:
        if path.stat().st_size > MAX_PLAIN_BYTES:
            raise RecordTooLarge("it has as many bytes as a record may have")
        begins, plain_bytes = _find_unfinished(file)
        file.seek(begins)
        data = file.read()
        if data:
            end = data.rfind(_SYNC_MARK) + len(_SYNC_MARK)
            last, kept = _build_trailer(data[:end]) if end > len(_SYNC_MARK) else (b"", 0)
            file.seek(begins + end if last else begins)
            file.truncate()
            file.write(last)
            plain_bytes += kept
    return plain_bytes


def _find_unfinished(file: BinaryIO) -> tuple[int, int]:
    """Return where the first member begins that has no end, and the bytes of those before it."""
    begins, plain_bytes, members, whole_bytes = 0, 0, 0, 0
    unzip, data = zlib.decompressobj(GZIP), file.read(CHUNK)
    while data:
        try:
            plain_bytes += len(unzip.decompress(data, CHUNK))
        except zlib.error:
            break
        data = unzip.unconsumed_tail
        if unzip.eof:
            data, unzip, members = unzip.unused_data, zlib.decompressobj(GZIP), members + 1
            begins, whole_bytes = file.tell() - len(data), plain_bytes
        if plain_bytes > MAX_PLAIN_BYTES or members >= MAX_MEMBERS:
            raise RecordTooLarge("it has as many bytes or parts as a record may have")
        data = data or file.read(CHUNK)
    return begins, whole_bytes


def _build_trailer(data: bytes) -> tuple[bytes, int]:
    """Return what ends a member, and its bytes after decompression; nothing for a damaged one."""
    unzip, crc, plain_bytes = zlib.decompressobj(GZIP), 0, 0
    while data:
        try:
            plain = unzip.decompress(data, CHUNK)
        except zlib.error:
            return b"", 0
        crc, plain_bytes = zlib.crc32(plain, crc), plain_bytes + len(plain)
        data = unzip.unconsumed_tail
    return _LAST_BLOCK + struct.pack("<LL", crc, plain_bytes & 0xFFFFFFFF), plain_bytes
