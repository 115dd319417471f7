"""Reads an archive of files into memory, within limits; nothing is extracted.

Formats: zip (stored or deflated) and tar.gz. Whatever two programs could read in two ways is
refused: entries that overlap, headers that disagree, names twice, bytes between or after.
"""

import gzip
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from stat import S_IFDIR, S_IFMT, S_IFREG
from typing import Final

from extensions.sharing.file_names import find_clash, find_name_problem, show_name
from nodes.errors import UsageError

MAX_ARCHIVE_BYTES: Final = 21_000_000
MAX_TOTAL_BYTES: Final = 20_000_000
MAX_FILE_BYTES: Final = 5_000_000
MAX_CODE_BYTES: Final = 256_000
MAX_FILES: Final = 500
MAX_RATIO: Final = 200
"""Of a size to the size when packed, where it is larger than `MIN_RATIO_BYTES`."""
MIN_RATIO_BYTES: Final = 100_000
_ENCRYPTED, _HAS_DESCRIPTOR, _IS_UTF8 = 0x1 | 0x40 | 0x2000, 0x8, 0x800
"""Flags; with a descriptor, size and checksum are zero before the data, and follow it."""
_DESCRIPTOR_BYTES: Final = 24
_ZIP: Final = b"PK\x03\x04"
_GZIP: Final = b"\x1f\x8b"
_LOCAL_HEADER: Final = struct.Struct("<6x4H3I2H")
_READ_ERRORS: Final = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, RuntimeError, OverflowError, LookupError, MemoryError),
)
"""What the standard library raises for damaged archives."""

_Entries = Iterator[tuple[str, int, Callable[[], bytes]]]
"""The path of each file, its size as stated, and what reads at most as much."""


class TeamRefused(UsageError):
    """What should be added is no team that can be, and nothing of it was used."""


def read_archive(data: bytes) -> dict[str, bytes]:
    """Return the files of an archive, by their paths."""
    files, total = dict[str, bytes](), 0
    if not data.startswith((_ZIP, _GZIP)):
        raise TeamRefused("it is neither a zip nor a tar.gz")
    try:
        for name, size, load in (_read_zip if data.startswith(_ZIP) else _read_tar)(data):
            total += size
            check_size(name, size, total, len(files) + 1)
            if name in files:
                raise TeamRefused(f"{show_name(name)} is in it twice")
            files[name] = load()
            if len(files[name]) != size:
                raise TeamRefused(f"{show_name(name)} has another size than the archive says")
    except TeamRefused:
        raise
    except _READ_ERRORS as error:
        raise TeamRefused("it is damaged", cause=type(error).__name__) from None
    if clash := find_clash(files):
        raise TeamRefused(clash)
    return files


def check_size(name: str, size: int, total: int, count: int) -> None:
    """Raise TeamRefused for a file whose name or size, or for files whose sum, is not allowed."""
    _check_name(name)
    most = MAX_CODE_BYTES if name.casefold().endswith(".py") else MAX_FILE_BYTES
    if not 0 <= size <= most:
        raise TeamRefused(f"{show_name(name)} has more than {most:,} bytes")
    if total > MAX_TOTAL_BYTES or count > MAX_FILES:
        raise TeamRefused(f"it has more than {MAX_FILES} files or {MAX_TOTAL_BYTES:,} bytes")


def _check_name(name: str) -> None:
    if problem := find_name_problem(name):
        raise TeamRefused(f"the name {show_name(name)} {problem}")


def _read_zip(data: bytes) -> _Entries:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        if data[-22:-18] != b"PK\x05\x06":
            raise TeamRefused("other bytes, or a comment, are after its end")
        _check_layout(data, archive)
        for entry in archive.infolist():
            kind = S_IFMT(entry.external_attr >> 16)
            if entry.is_dir() and entry.file_size == 0 and kind in (0, S_IFDIR):
                _check_name(entry.filename.removesuffix("/"))
                continue
            if entry.is_dir() or kind not in (0, S_IFREG):
                raise TeamRefused(f"{show_name(entry.filename)} is a link, or no plain file")
            if entry.file_size > max(MIN_RATIO_BYTES, MAX_RATIO * entry.compress_size):
                raise TeamRefused("it is packed too densely")
            yield entry.filename, entry.file_size, partial(archive.read, entry)


def _check_layout(data: bytes, archive: zipfile.ZipFile) -> None:
    """Raise TeamRefused unless the entries follow each other and both headers of each agree."""
    entries = sorted(archive.infolist(), key=lambda each: each.header_offset)
    if len(entries) > 2 * MAX_FILES:
        raise TeamRefused(f"it has more than {MAX_FILES} files")
    end, may_end = 0, 0
    for entry in entries:
        name = show_name(entry.filename)
        is_plain = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if entry.flag_bits & _ENCRYPTED or not is_plain:
            raise TeamRefused(f"{name} is encrypted, or packed in a way that is not read")
        if not end <= entry.header_offset <= may_end:
            raise TeamRefused("its entries overlap, or other bytes are between them")
        end = _find_end(data, entry)
        may_end = end + (_DESCRIPTOR_BYTES if entry.flag_bits & _HAS_DESCRIPTOR else 0)
    if not end <= archive.start_dir <= may_end:
        raise TeamRefused("its entries overlap, or other bytes are between them")


def _find_end(data: bytes, entry: zipfile.ZipInfo) -> int:
    """Return where an entry's data ends."""
    fields = _LOCAL_HEADER.unpack_from(data, entry.header_offset)
    flags, method, _, _, checksum, packed, size, name_size, extra_size = fields
    start = entry.header_offset + _LOCAL_HEADER.size
    name = data[start : start + name_size].decode("utf-8" if flags & _IS_UTF8 else "cp437")
    stated = (entry.CRC, entry.compress_size, entry.file_size)
    known = (stated, (0, 0, 0)) if flags & _HAS_DESCRIPTOR else (stated,)
    agrees = (flags, method) == (entry.flag_bits, entry.compress_type)
    # The library cuts a name at a NUL byte.
    agrees &= name == entry.filename == entry.orig_filename
    if not agrees or (checksum, packed, size) not in known:
        raise TeamRefused(f"the two headers of {show_name(entry.filename)} disagree")
    return start + int(name_size) + int(extra_size) + entry.compress_size


def _read_tar(data: bytes) -> _Entries:
    most = MAX_TOTAL_BYTES + 4096 * MAX_FILES  # a header and padding for each file
    with gzip.GzipFile(fileobj=BytesIO(data)) as packed:
        content = packed.read(most + 1)
    if len(content) > min(most, max(MIN_RATIO_BYTES, MAX_RATIO * len(data))):
        raise TeamRefused("it is too large, or packed too densely")
    with tarfile.open(fileobj=BytesIO(content), mode="r:") as archive:
        for count, member in enumerate(archive):
            if count > 2 * MAX_FILES:
                raise TeamRefused(f"it has more than {MAX_FILES} files")
            _check_name(member.name)
            if member.isdir():
                continue
            if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
                raise TeamRefused(f"{show_name(member.name)} is a link, or no plain file")
            if hasattr(tarfile, "data_filter"):  # Python 3.11.2 of Debian has none
                tarfile.data_filter(member, "/nowhere")
            part = memoryview(content)[member.offset_data : member.offset_data + member.size]
            yield member.name, member.size, partial(bytes, part)
        # Where a header is damaged, the library takes it for the end.
        if archive.offset > len(content) or content[archive.offset :].strip(b"\0"):
            raise TeamRefused("it is damaged", cause="something follows its last file")
