"""The documents that a run has written, for whoever may read its trace."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from graph.runs.event_log import FORM_ERRORS
from nodes.limits.patterns import Pattern
from nodes.text.finite_json import parse_finite_json

WRITERS: Final = ("format_document", "compose_document")
"""Tools that write into the folder of documents alone, under a name that was free."""
MAX_DOCUMENT_BYTES: Final = 5_000_000
MAX_DOCUMENTS: Final = 20
_WRITTEN: Final = Pattern(r'\{"path": ("(?:[^"\\]|\\.)*"), "format": "\w+", "bytes": (\d+)[,}]')
"""Begins what such a tool answers; the rest may be cut."""


def load_documents(lines: Iterable[str], folder: Path) -> list[dict[str, str]]:
    """Return the name and the content, in Base64, of the documents that a trace's run has written.

    One that is gone or has another size than the run gave it is left out.
    """
    found = {name: size for line in lines for name, size in _list_written(line, folder)}
    documents = []
    for name, size in list(found.items())[:MAX_DOCUMENTS]:
        file = folder / name
        if file.is_file() and not file.is_symlink() and file.stat().st_size == size:
            content = b64encode(file.read_bytes()).decode("ascii")
            documents.append({"name": name, "content": content})
    return documents


def _list_written(line: str, folder: Path) -> Iterator[tuple[str, int]]:
    if "_document" not in line:
        return
    try:
        entry: dict[str, Any] = parse_finite_json(line)
        is_call = entry.get("kind") == "tool_call" and entry.get("tool") in WRITERS
        written = _WRITTEN.match(str(entry.get("result") or "")) if is_call else None
        path = Path(parse_finite_json(written[1])) if written else None
    except FORM_ERRORS:  # another version wrote it
        return
    if written and path and path.parent.resolve() == folder.resolve():
        size = int(written[2])
        if size <= MAX_DOCUMENT_BYTES:
            yield path.name, size
