"""A small team that brings code, and archives of it."""

import io
import os
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MARK = "imported-by-somebody"
"""The file that the team's code writes into the current folder when it is imported."""
PEEL = f'''
from pathlib import Path
from langchain_core.tools import tool

ACCESS = {{"reads": [], "sends": "nothing"}}
Path({MARK!r}).write_text("imported")


@tool
def peel(fruit: str) -> str:
    """Return a fruit without its peel, such as peel(fruit="apple")."""
    return f"a peeled {{fruit}}"
'''
FILES: dict[str, bytes] = {
    "team.md": b"---\ndescription: Counts and peels fruit.\n---\nGive apples to the peeler.\n",
    "peeler.md": b"---\ndescription: Peels any fruit.\ntools: [peel]\n---\nPeel it whole.\n",
    "counter.md": b"---\ndescription: Counts crates.\ntools: [calculate]\n---\nCount crates.\n",
    "tools/peel.py": PEEL.encode(),
    "LICENSE": b"MIT License\n\nAnyone may.\n",
}


def write_folder(parent: Path, name: str = "fruit", **changes: str | bytes | None) -> Path:
    """Write the team's folder; a change replaces a file, and None leaves it out."""
    folder = parent / name
    for path, content in change_files(changes).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def change_files(changes: Mapping[str, str | bytes | None]) -> dict[str, bytes]:
    files = {**FILES, **changes}
    return {
        name: content.encode() if isinstance(content, str) else content
        for name, content in files.items()
        if content is not None
    }


def make_zip(files: Mapping[str, bytes], top: str = "fruit/", method: int = 0) -> bytes:
    """Return a zip of files, of which those without a `/` at the start are below a folder."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(f"{top}{name}"), content, method)
    return target.getvalue()


def make_tar(files: Mapping[str, bytes], *others: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """Return a tar.gz of files, and of further entries as they are."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        entries = [(make_entry(f"fruit/{name}"), content) for name, content in files.items()]
        for entry, content in (*entries, *others):
            entry.size = entry.size or len(content)
            archive.addfile(entry, io.BytesIO(content))
    return target.getvalue()


def make_entry(name: str, **fields: Any) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    for key, value in fields.items():
        setattr(entry, key, value)
    return entry


_watching: list[list[str]] = []
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def _watch(event: str, given: tuple[Any, ...]) -> None:
    """Keep what has an effect: a hook of the interpreter cannot be removed, so it is added once."""
    if not _watching:
        return
    if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system"):
        _watching[-1].append(f"{event} {given!r:.200}")
    if event == "open" and isinstance(given[2], int) and given[2] & _WRITING:
        place = os.fspath(given[0]) if isinstance(given[0], str | bytes | Path) else ""
        if not os.fsdecode(place).startswith((f"{tempfile.gettempdir()}/team-", "/dev/")):
            _watching[-1].append(f"writes {place!r}")


sys.addaudithook(_watch)


@contextmanager
def watch_effects() -> Iterator[list[str]]:
    """Yield a list of what was connected, started or written meanwhile."""
    _watching.append([])
    try:
        yield _watching[-1]
    finally:
        _watching.pop()
