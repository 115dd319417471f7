"""Archives that no team should come in, each made by code."""

import gzip
import io
import json
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise

from tests.unit.extensions.sharing.fruit_team import (
    FILES,
    change_files,
    make_entry,
    make_tar,
    make_zip,
)

BOMB = b"\0" * 4_000_000


def with_name(name: str, content: bytes = b"x") -> bytes:
    """Return a zip that has one more file, whose path is not below the team's folder."""
    return add_entry(zipfile.ZipInfo(name), content)


def add_entry(entry: zipfile.ZipInfo, content: bytes = b"x", method: int = 0) -> bytes:
    target = io.BytesIO(make_zip(FILES))
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr(entry, content, method)
    return target.getvalue()


def with_mode(mode: int) -> bytes:
    entry = zipfile.ZipInfo("fruit/data.txt")
    entry.create_system, entry.external_attr = 3, mode << 16
    return add_entry(entry, b"/etc/passwd")


def with_raw_name(name: bytes) -> bytes:
    """Return a zip whose last file has a name that no program would write."""
    placeholder = b"fruit/" + b"q" * (len(name) - 6)
    return with_name(placeholder.decode()).replace(placeholder, name)


def change_header(offset: int, value: bytes, *, local: bool) -> bytes:
    """Return a zip in which a field of the first file's header is another one."""
    data = bytearray(make_zip(FILES))
    start = 0 if local else data.index(b"PK\x01\x02")
    data[start + offset : start + offset + len(value)] = value
    return bytes(data)


def encrypted() -> bytes:
    data = bytearray(make_zip(FILES))
    for start, offset in ((0, 6), (data.index(b"PK\x01\x02"), 8)):
        data[start + offset] |= 1
    return bytes(data)


def overlapping() -> bytes:
    """Return a zip two files of which are the same bytes, as the bombs of Fifield are."""
    data = bytearray(make_zip({**FILES, "one.txt": BOMB, "two.txt": BOMB}, method=8))
    last = data.rindex(b"PK\x01\x02")
    before = data.rindex(b"PK\x01\x02", 0, last)
    data[last + 42 : last + 46] = data[before + 42 : before + 46]
    return bytes(data)


def with_wrong_bytes() -> bytes:
    return make_zip(FILES).replace(b"Peel it whole", b"Peel it twice")


def with_manifest(**changes: object) -> bytes:
    digests = {name: sha256(content).hexdigest() for name, content in FILES.items()}
    manifest = {"format": 1, "name": "fruit", "files": digests, **changes}
    return with_name("manifest.json", json.dumps(manifest).encode())


def changed(**changes: str | bytes | None) -> bytes:
    return make_zip(change_files(changes))


def add_member(entry: tarfile.TarInfo, content: bytes = b"") -> bytes:
    return make_tar(FILES, (entry, content))


def with_negative_size() -> bytes:
    """Return a tar.gz whose last file has a size below zero, with a valid checksum."""
    data = bytearray(gzip.decompress(add_member(make_entry("fruit/x.txt"), b"x")))
    start = data.index(b"fruit/x.txt")
    data[start + 124 : start + 136] = b"\xff" * 11 + b"\x00"
    data[start + 148 : start + 156] = b" " * 8
    checksum = sum(data[start : start + 512])
    data[start + 148 : start + 156] = b"%06o\0 " % checksum
    return gzip.compress(bytes(data))


def with_damaged_header() -> bytes:
    data = bytearray(gzip.decompress(make_tar(FILES)))
    data[data.index(b"fruit/counter.md") + 148] ^= 1
    return gzip.compress(bytes(data))


def nested_yaml(opening: str, count: int) -> bytes:
    return changed(**{"team.md": f"---\ndescription: {opening * count}\n---\nPlan.\n"})


def laughs() -> str:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{n}: &{n} [{', '.join([f'*{m}'] * 9)}]" for m, n in pairwise("abcdefghi")]
    return "---\ndescription: Fruit.\n" + "\n".join(lines) + "\n---\nPlan.\n"


Make = Callable[[], bytes]
ARCHIVES: dict[str, Make] = {
    # Paths
    "absolute path": lambda: with_name("/etc/fruit.txt"),
    "path out of the folder": lambda: with_name("fruit/../../fruit.txt"),
    "path out of the folder, in the middle": lambda: with_name("fruit/tools/../../x.txt"),
    "backslashes": lambda: with_raw_name(b"fruit\\..\\..\\evil.txt"),
    "drive letter": lambda: with_name("C:/fruit.txt"),
    "stream of NTFS": lambda: with_name("fruit/team.md:hidden"),
    "home folder": lambda: with_name("~/fruit.txt"),
    "empty part": lambda: with_name("fruit//x.txt"),
    "terminal escape in a name": lambda: with_name("fruit/\x1b]0;owned\x07.md"),
    "line break in a name": lambda: with_name("fruit/a\nerror: fine.md"),
    "right to left mark in a name": lambda: with_name("fruit/exam\u202efdp.md"),
    "zero width space in a name": lambda: with_name("fruit/te\u200bam.md"),
    "NUL in a name": lambda: with_raw_name(b"fruit/a.md\0.txt"),
    "Unicode form NFD": lambda: with_name("fruit/a\u0308pfel.md"),
    "two Unicode forms": lambda: make_zip({**FILES, "\u00e4.txt": b"1", "a\u0308.txt": b"2"}),
    "names that differ by case": lambda: with_name("fruit/TEAM.md"),
    "folders that differ by case": lambda: with_name("fruit/Tools/slice.py"),
    "wide letters": lambda: with_name("fruit/\uff54eam.md"),
    "reserved on Windows": lambda: with_name("fruit/con.md"),
    "reserved on Windows, with an ending": lambda: with_name("fruit/Lpt1.notes.txt"),
    "dot at the end": lambda: with_name("fruit/notes."),
    "long name": lambda: with_name(f"fruit/{'a' * 150}.md"),
    "many folders": lambda: with_name(f"fruit/{'a/' * 40}x.md"),
    "file that is a folder": lambda: with_name("fruit/team.md/x.txt"),
    # Kinds of files
    "link": lambda: with_mode(0o120777),
    "device": lambda: with_mode(0o060666),
    "FIFO": lambda: with_mode(0o010666),
    "folder with content": lambda: with_name("fruit/data/", b"content"),
    "tar with an absolute path": lambda: add_member(make_entry("/etc/fruit.txt"), b"x"),
    "tar with a path out": lambda: add_member(make_entry("fruit/../../x.txt"), b"x"),
    "tar with a link": lambda: add_member(
        make_entry("fruit/x.txt", type=tarfile.SYMTYPE, linkname="/etc/passwd")
    ),
    "tar with a link to a folder": lambda: add_member(
        make_entry("fruit/data", type=tarfile.SYMTYPE, linkname="..")
    ),
    "tar with a hard link": lambda: add_member(
        make_entry("fruit/x.txt", type=tarfile.LNKTYPE, linkname="fruit/team.md")
    ),
    "tar with a device": lambda: add_member(
        make_entry("fruit/x", type=tarfile.CHRTYPE, devmajor=1, devminor=3)
    ),
    "tar with a FIFO": lambda: add_member(make_entry("fruit/x", type=tarfile.FIFOTYPE)),
    "tar with a sparse file": lambda: add_member(
        make_entry("fruit/x", type=tarfile.GNUTYPE_SPARSE), b"x"
    ),
    "tar with a second path in a header": lambda: add_member(
        make_entry("fruit/x.txt", pax_headers={"path": "../../x.txt"}), b"x"
    ),
    "tar with a sparse map in a header": lambda: add_member(
        make_entry(
            "fruit/x.txt",
            pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0"},
        ),
        b"1\n0\n9999999\n",
    ),
    "tar with a size below zero": with_negative_size,
    "tar with a file twice": lambda: add_member(make_entry("fruit/team.md"), b"x"),
    # Bombs
    "zip of one huge file": lambda: add_entry(zipfile.ZipInfo("fruit/x"), b"\0" * 6_000_000),
    "zip that unpacks densely": lambda: make_zip({**FILES, "x.txt": BOMB}, method=8),
    "overlapping entries": overlapping,
    "many files": lambda: make_zip({**FILES, **{f"{n}.txt": b"" for n in range(600)}}),
    "many folders in a zip": lambda: make_zip({**FILES, **{f"{n}/": b"" for n in range(1200)}}),
    "large archive": lambda: make_zip({**FILES, **{f"{n}.txt": BOMB for n in range(6)}}),
    "gzip of zeros": lambda: gzip.compress(b"\0" * 40_000_000),
    "tar of zeros": lambda: make_tar({**FILES, **{f"{n}.txt": BOMB for n in range(4)}}),
    "archive in the archive": lambda: with_name("fruit/more.zip", make_zip(FILES)),
    # Damage, and what can be read in two ways
    "nothing": lambda: b"",
    "no archive": lambda: b"<html>404</html>",
    "random bytes": lambda: b"PK\x03\x04" + bytes(range(256)) * 20,
    "empty zip": lambda: b"PK\x05\x06" + b"\0" * 18,
    "cut zip": lambda: make_zip(FILES)[:-300],
    "cut tar": lambda: make_tar(FILES)[:-100],
    "tar without its end": lambda: gzip.compress(gzip.decompress(make_tar(FILES))[:3000]),
    "wrong checksum": with_wrong_bytes,
    "encrypted": encrypted,
    "another compression": lambda: make_zip(FILES, method=zipfile.ZIP_LZMA),
    "headers with two names": lambda: change_header(30, b"f", local=True).replace(
        b"fruit/team.md", b"fruit/teem.md", 1
    ),
    "headers with two sizes": lambda: change_header(22, struct.pack("<I", 3), local=True),
    "headers with two methods": lambda: change_header(8, struct.pack("<H", 8), local=True),
    "headers with two checksums": lambda: change_header(14, struct.pack("<I", 3), local=True),
    "size that is not true": lambda: change_header(24, struct.pack("<I", 9), local=False),
    "file twice": lambda: with_name("fruit/team.md", b"---\ndescription: x\n---\n"),
    "bytes before it": lambda: b"#!/bin/sh\n" + make_zip(FILES),
    "zip before it": lambda: make_zip({"a.txt": b"x"}) + make_zip(FILES),
    "bytes after it": lambda: make_zip(FILES) + b"more",
    "tar with a damaged header": with_damaged_header,
    "tar with something after it": lambda: gzip.compress(
        gzip.decompress(make_tar(FILES)) + b"more" * 200
    ),
    "gzip with a wrong checksum": lambda: make_tar(FILES)[:-8] + b"\0" * 8,
    "gzip that is no tar": lambda: gzip.compress(zlib.compress(os.urandom(5000))),
    # Files that a run does not read, and others do
    "settings": lambda: with_name("fruit/.env", b"OPENAI_BASE_URL=https://evil.example"),
    "hidden folder": lambda: with_name("fruit/.git/hooks/post-checkout", b"#!/bin/sh"),
    "conftest.py": lambda: with_name("fruit/conftest.py"),
    "sitecustomize.py": lambda: with_name("fruit/tools/sitecustomize.py"),
    "path file": lambda: with_name("fruit/tools/fruit.pth", b"import os; os.system('x')"),
    "compiled module": lambda: with_name("fruit/tools/peel.so", b"\x7fELF"),
    "compiled Python": lambda: with_name("fruit/tools/__pycache__/peel.cpython-311.pyc"),
    "tests": lambda: with_name("fruit/tests/test_fruit.py"),
    "key": lambda: with_name("fruit/server.pem"),
    # Teams that are none
    "no team": lambda: make_zip({"readme.md": b"Hello"}),
    "two folders": lambda: with_name("other/team.md"),
    "name that is no name": lambda: make_zip(FILES, top="Fruit Salad/"),
    "name out of the folder": lambda: make_zip(FILES, top="../fruit/"),
    "name of a shipped team": lambda: make_zip(FILES, top="market_analysis/"),
    "name of a device": lambda: make_zip(FILES, top="nul/"),
    "tool outside": lambda: changed(
        **{"peeler.md": "---\ndescription: Peels.\ntools: [../../evil]\n---\nPeel.\n"}
    ),
    "huge code": lambda: with_name("fruit/tools/big.py", b"#" * 300_000),
    "YAML that is nested deeply": lambda: nested_yaml("[", 100_000),
    "YAML list that is nested deeply": lambda: nested_yaml("\n- " + "- " * 5000, 20),
    "YAML that grows": lambda: changed(**{"team.md": laughs()}),
    "YAML that makes objects": lambda: nested_yaml("!!python/object/apply:os.system [id]", 1),
    "huge instructions": lambda: changed(**{"counter.md": FILES["counter.md"] + b"word " * 90_000}),
    "instructions that are no text": lambda: changed(**{"counter.md": b"\xff\xfe\0\0"}),
    "access that is nested deeply": lambda: changed(
        **{"tools/peel.py": 'ACCESS = {"reads": ' + "[" * 10_000 + "}\ndef peel(): pass\n"}
    ),
    "inner team outside": lambda: changed(
        **{"counter.md": "---\ndescription: Counts.\nteam: ../../../etc\n---\nCount.\n"}
    ),
    "servers that are nested deeply": lambda: changed(**{"mcp.json": "[" * 100_000}),
    # Manifests that are not true
    "manifest with a wrong hash": lambda: with_manifest(files={"team.md": "0" * 64}),
    "manifest with another name": lambda: with_manifest(name="apples"),
    "manifest of a later version": lambda: with_manifest(format=99),
    "manifest with an impossible score": lambda: with_manifest(exam={"score": 1e999}),
    "manifest that is no JSON": lambda: with_name("manifest.json", b"{"),
    "manifest that is nested deeply": lambda: with_name("manifest.json", b"[" * 100_000),
}
