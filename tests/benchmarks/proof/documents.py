"""Reads documents and tables that nobody wrote for this benchmark, and divides them into halves."""

import csv
import io
import json
import re
import sysconfig
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

Split = Literal["a", "b"]
MAX_CHARS = 60_000
MAX_TABLE_ROWS = 300
MAX_TABLE_BYTES = 400_000
SECTION = re.compile(r"[.):] \(?\d+(?:\.\d+)*[. ]|^[A-Z]{3,}\W|^Inc\b|^\w+, [a-z]+ \w+, and")
"""In what the division into sentences has left whole, or cut: a number of a section, a heading."""
MIN_TEXT_CHARS = 1_500
TEXT_ENDINGS = (".md", ".rst", ".txt", ".html")
WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019-]+")
TAG = re.compile(r"<[^<>]*>")
NO_PROSE = re.compile(r"[|{}<>\\*\[\]^]|::|\.\.\.|\w_\W|https?:")
END_OF_SENTENCE = re.compile(r"(?<=[a-z0-9)%\"”][.!?])\s+(?=[A-Z\"“])")
ABBREVIATION = re.compile(r"\b(?:[A-Z]|e\.g|i\.e|etc|vs|No|Inc|Ltd|Co|Corp|Mr|Dr|St|Sec|Art|cf)\.$")
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*[-*+•]\s)")


@dataclass(frozen=True)
class Document:
    """A text, or a table as CSV, under the name that sources are given by."""

    name: str
    text: str

    @property
    def split(self) -> Split:
        """Return the half that it belongs to, by its content, so that copies stay together."""
        return "a" if sha256(self.text.encode()).digest()[0] % 2 else "b"

    @property
    def is_table(self) -> bool:
        """Return whether it is read as CSV."""
        return self.name.endswith(".csv")


@dataclass(frozen=True)
class Table:
    """A CSV file whose rows have unique names in one column."""

    name: str
    key: str
    """The column of the names."""
    columns: tuple[str, ...]
    """Those of figures, apart from the one of the names."""
    rows: tuple[dict[str, str], ...]
    lines: tuple[str, ...]
    """The rows as they stand in the file."""


def read_documents(folders: Iterable[Path], *, packages: bool = True) -> list[Document]:
    """Return the documents of folders, and the descriptions of installed packages, each once."""
    found = [each for folder in folders for each in _read_folder(folder)]
    if packages:
        found += _read_descriptions(Path(sysconfig.get_path("purelib")))
    by_text: dict[str, Document] = {}
    names = set[str]()
    for document in found:
        if document.text not in by_text and document.name not in names:
            by_text[document.text] = document
            names.add(document.name)
    return sorted(by_text.values(), key=lambda each: each.name)


def _read_folder(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".jsonl":
            yield from _read_rows(path)
        elif path.suffix == ".csv":
            text = path.read_text("utf-8-sig", errors="replace")
            yield Document(path.name, "".join(text.splitlines(True)[: MAX_TABLE_ROWS + 1]))
        elif path.name.endswith(".tar.gz"):
            yield from _read_archive(path)
        elif path.suffix in TEXT_ENDINGS and path.is_file():
            text = path.read_text("utf-8", errors="replace")[:MAX_CHARS]
            text = TAG.sub(" ", text) if path.suffix == ".html" else text
            if len(text) >= MIN_TEXT_CHARS:
                name = f"{path.parent.name}-{path.name}" if path.suffix != ".html" else path.name
                yield Document(name, text)


def _read_archive(path: Path) -> Iterator[Document]:
    """Read the documentation of a source distribution."""
    package = path.name.partition("-")[0]
    with tarfile.open(path) as archive:
        members = (each for each in archive.getmembers() if "/docs/" in each.name)
        for member in sorted(members, key=lambda each: each.name):
            if member.isfile() and member.name.endswith((".rst", ".txt")):
                content = archive.extractfile(member)
                assert content is not None, "a file has content"
                text = content.read().decode("utf-8", "replace")[:MAX_CHARS]
                if len(text) >= MIN_TEXT_CHARS:
                    place = PurePosixPath(member.name)
                    yield Document(f"{package}-{place.parent.name}-{place.name}", text)


def _read_rows(path: Path) -> Iterator[Document]:
    """Read rows of JSON that hold a document as `text`, with its name as `id`."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if isinstance(row, dict) and isinstance(row.get("text"), str) and "id" in row:
            name = str(row["id"]).split("/")[-1]
            stem = re.sub(r"[^A-Za-z0-9.-]+", "_", name.removesuffix(".pdf"))[:40]
            yield Document(f"{stem}.pdf", row["text"][:MAX_CHARS])


def _read_descriptions(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.glob("*.dist-info/METADATA")):
        _, _, text = path.read_text("utf-8", errors="replace").partition("\n\n")
        if len(text) >= MIN_TEXT_CHARS:
            package = path.parent.name.split("-")[0]
            yield Document(f"{package}-README.md", text[:MAX_CHARS])
    for path in sorted(folder.rglob("*.csv")):
        if "tests" not in path.parts and path.stat().st_size < MAX_TABLE_BYTES:
            text = path.read_text("utf-8", errors="replace")
            yield Document(path.name, "".join(text.splitlines(True)[: MAX_TABLE_ROWS + 1]))


def list_sentences(document: Document) -> list[str]:
    """Return the plain sentences of a text as they are in it, but on one line each."""
    found = list[str]()
    for paragraph in PARAGRAPH.split(document.text):
        line = " ".join(paragraph.split())
        begin = 0
        for match in END_OF_SENTENCE.finditer(line):
            if not ABBREVIATION.search(line[begin : match.start()]):
                found.append(line[begin : match.start()].strip())
                begin = match.end()
        found.append(line[begin:].strip())
    return list(dict.fromkeys(each for each in found if _is_plain(each)))


def _is_plain(sentence: str) -> bool:
    words = WORD.findall(sentence)
    if not 7 <= len(words) <= 55 or len(sentence) > 400 or NO_PROSE.search(sentence):
        return False
    if SECTION.search(sentence):
        return False
    is_whole = bool(re.fullmatch(r"[A-Z].*[^\W\d.][)`]*\.|[A-Z].* \d\d+\.?\d*%?\.", sentence))
    is_shouted = sum(map(str.isupper, sentence)) > 0.3 * len(sentence)
    has_pairs = sentence.count("(") == sentence.count(")") and sentence.count('"') % 2 == 0
    return is_whole and has_pairs and not is_shouted and sum(map(len, words)) > 0.55 * len(sentence)


def read_table(document: Document) -> Table | None:
    """Return a document as a table, or None if no column names its rows or few hold figures."""
    lines = [each for each in document.text.splitlines() if each and not each.startswith("#")]
    if not lines:
        return None
    header, *body = csv.reader(io.StringIO("\n".join(lines)))
    pairs = [(row, line) for row, line in zip(body, lines[1:], strict=False) if _fits(row, header)]
    rows = [dict(zip(header, row, strict=True)) for row, _ in pairs]
    if len(rows) < 5 or len(set(header)) < len(header):
        return None
    figures = [each for each in header if each and _holds_figures([row[each] for row in rows])]
    keys = [each for each in header if each and _names_rows([row[each] for row in rows])]
    columns = tuple(each for each in figures if each not in keys)
    if not keys or len(columns) < 2:
        return None
    return Table(document.name, keys[0], columns, tuple(rows), tuple(line for _, line in pairs))


def _fits(row: Sequence[str], header: Sequence[str]) -> bool:
    return len(row) == len(header)


def _holds_figures(cells: Sequence[str]) -> bool:
    numbers = [cell for cell in cells if re.fullmatch(r"-?\d{1,12}(?:\.\d{1,4})?", cell)]
    return len(numbers) >= 0.8 * len(cells) and len(set(numbers)) > 4


def _names_rows(cells: Sequence[str]) -> bool:
    """Return whether cells are names, dates or years, each once."""
    is_key = re.compile(
        r"[A-Z][A-Za-z .,'*-]{2,30}"
        r"|(?:1[5-9]|20)\d\d(?:-\d\d(?:-\d\d)?)?|\d\d?-[A-Z][a-z]{2}-\d\d"
    )
    good = sum(bool(is_key.fullmatch(cell)) for cell in cells)
    return len(set(cells)) == len(cells) and good >= 0.8 * len(cells)
