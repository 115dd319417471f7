"""Files that attack their reader, by the rows A17 and A19 of the catalogue of faults."""

import zipfile
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, TextStringObject

from extensions.tools.documents.parser import MAX_PAGES
from extensions.tools.search_documents import search_documents
from nodes.errors import FileUnreadable
from nodes.tools.framework.documents import MAX_TEXT_CHARS, read_document
from nodes.tools.framework.settings import ToolSettings
from tests.unit.tools.document_samples import write_docx, write_pdf

pytestmark = pytest.mark.slow

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def write_docx_with_doctype(path: Path, doctype: str, text: str) -> None:
    """Write a DOCX whose document begins with a doctype and holds one paragraph."""
    write_docx(path)
    with zipfile.ZipFile(path) as sound:
        parts = {name: sound.read(name) for name in sound.namelist()}
    body = f"<w:document {WORD}><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body>"
    parts["word/document.xml"] = f"<!DOCTYPE x [{doctype}]>{body}</w:document>".encode()
    with zipfile.ZipFile(path, "w") as hostile:
        for name, content in parts.items():
            hostile.writestr(name, content)


def start_pdf(folder: Path) -> PdfWriter:
    """Begin a PDF with a page of one line."""
    write_pdf(folder / "page.pdf", "AWS grew")
    return PdfWriter(clone_from=folder / "page.pdf")


async def test_a17_a_huge_file_is_named_as_skipped_and_hides_no_other(tmp_path):
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(1_000_000_000)
    (tmp_path / "empty.md").touch()
    (tmp_path / "bad.txt").write_bytes(b"zebra \xff\xfe\x80")
    (tmp_path / "wide.txt").write_bytes("a zebra".encode("utf-16"))

    found = await search_documents(ToolSettings(documents=tmp_path)).ainvoke({"query": "zebra"})

    assert {hit["source"] for hit in found["results"]} == {"bad.txt", "wide.txt"}
    reasons = {item["source"]: item["reason"] for item in found["skipped"]}
    assert reasons == {"huge.txt": "1000 MB, of at most 50", "empty.md": "no text in it"}
    assert any("huge.txt (1000 MB, of at most 50)" in gap for gap in found["gaps"])


def test_a17_a_line_without_end_is_cut_and_says_so(tmp_path):
    (tmp_path / "line.txt").write_bytes(b"a" * (MAX_TEXT_CHARS + 1_000_000))

    text = read_document(tmp_path / "line.txt")[""]

    assert text.endswith(f"[cut at {MAX_TEXT_CHARS} characters]")
    assert len(text) < MAX_TEXT_CHARS + 100


def test_a19_an_encrypted_pdf_is_refused_as_such(tmp_path):
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret")
    writer.write(tmp_path / "locked.pdf")

    with pytest.raises(FileUnreadable, match="it is encrypted"):
        read_document(tmp_path / "locked.pdf")[""]


def test_a19_a_script_in_a_pdf_is_neither_run_nor_read(tmp_path):
    writer = start_pdf(tmp_path)
    script = {"/S": "/JavaScript", "/JS": "app.launchURL('http://evil.example');"}
    written = {NameObject(key): TextStringObject(value) for key, value in script.items()}
    writer.root_object[NameObject("/OpenAction")] = DictionaryObject(written)
    writer.write(tmp_path / "script.pdf")

    assert read_document(tmp_path / "script.pdf")[""].strip() == "AWS grew"


def test_a19_of_too_many_pages_the_first_are_read_and_the_cut_is_named(tmp_path):
    writer = start_pdf(tmp_path)
    for _ in range(MAX_PAGES):
        writer.add_blank_page(9, 9)
    writer.write(tmp_path / "long.pdf")

    text = read_document(tmp_path / "long.pdf")[""]

    assert text.startswith("AWS grew")
    assert text.endswith("[cut: the first 2000 of 2001 pages]")


@pytest.mark.parametrize(
    ("doctype", "text"),
    [
        (f'<!ENTITY l0 "lol">{LAUGHS}', "&l11;"),
        ('<!ENTITY f SYSTEM "file:///etc/passwd">', "Names: &f; here"),
        ('<!ENTITY f SYSTEM "http://127.0.0.1:9/x">', "Names: &f; here"),
    ],
    ids=["billion laughs", "a file", "an address"],
)
def test_a19_entities_in_a_docx_grow_to_nothing_and_reach_nothing(tmp_path, doctype, text):
    write_docx_with_doctype(tmp_path / "a.docx", doctype, text)

    try:
        found = read_document(tmp_path / "a.docx")[""]
    except FileUnreadable as refused:
        assert "its XML is broken" in refused.cause
    else:
        assert "root:" not in found and len(found) < 100


def test_a19_entities_in_a_page_reach_nothing(tmp_path):
    (tmp_path / "a.html").write_text(
        '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><p>Names: &f; here</p>'
    )

    assert "root:" not in read_document(tmp_path / "a.html")[""]
