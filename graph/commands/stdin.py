"""What `-` reads from stdin: the request, or a file."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from nodes.errors import FileUnreadable, RequestInvalid, UsageError
from nodes.text.csv_table import is_table_text
from nodes.text.json_records import read_records

STDIN: Final = "-"
MAX_STDIN_BYTES: Final = 10_000_000


def read_request_text(request: str) -> str:
    """Return the request's text; `-` reads it from stdin. Undecodable bytes are replaced.

    Raises:
        RequestInvalid: stdin holds too many bytes.
    """
    raw = _read_stdin() if request == STDIN else request.encode("utf-8", errors="surrogateescape")
    if len(raw) > MAX_STDIN_BYTES:
        raise RequestInvalid(f"the request is too large: more than {MAX_STDIN_BYTES:,} bytes")
    return _decode(raw)


def read_files(files: Sequence[Path], request: str) -> tuple[list[Path], dict[str, str]]:
    """Return the files to read from disk, and the material that is read from stdin, if one is.

    Raises:
        UsageError: the request is to be read from stdin, too.
        FileUnreadable: stdin holds no text, or too many bytes.
    """
    named = [file for file in files if str(file) != STDIN]
    if len(named) == len(files):
        return named, {}
    if request == STDIN:
        raise UsageError(
            "the request and a file cannot both be read from stdin", next="name one of them"
        )
    raw, problem = _read_stdin(), ""
    if len(raw) > MAX_STDIN_BYTES:
        problem = f"more than {MAX_STDIN_BYTES:,} bytes"
    elif not raw.strip():
        problem = "it is empty"
    elif b"\0" in raw:
        problem = "it is not text"
    if problem:
        raise FileUnreadable(
            "cannot read stdin", cause=problem, next="save it as a file, and name that: --file PATH"
        )
    text = _decode(raw)
    return named, {_name_text(text): text}


def _name_text(text: str) -> str:
    """Return the name of the material that `--file -` reads, by what it holds."""
    if read_records("stdin.json", text) is not None:
        return "stdin.json"
    return "stdin.csv" if is_table_text(text) else "stdin.txt"


def _read_stdin() -> bytes:
    return b"" if sys.stdin is None else sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)


def _decode(raw: bytes) -> str:
    text = raw.decode("utf-8-sig", errors="replace")
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
