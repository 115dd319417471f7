"""Documents as text."""

import os
import zipfile

import pytest

from nodes.errors import FileUnreadable
from nodes.tools.framework.documents import read_document
from tests.unit.tools.document_samples import write_docx, write_pdf


def test_a_pdf_is_read_page_by_page(tmp_path):
    write_pdf(tmp_path / "a.pdf", "AWS revenue was 107.6 billion", "Second page")

    pages = read_document(tmp_path / "a.pdf")[""].split("\f")

    assert [page.strip() for page in pages] == ["AWS revenue was 107.6 billion", "Second page"]


def test_a_docx_is_read_with_its_headings_and_tables(tmp_path):
    write_docx(tmp_path / "a.docx")

    text = read_document(tmp_path / "a.docx")[""]

    assert text.splitlines()[0] == "# Azure"
    assert "2024 | 75 billion" in text


def test_a_page_of_html_is_read_without_what_is_hidden(tmp_path):
    (tmp_path / "a.html").write_text(
        "<title>T</title><h1>Cloud</h1><p>Up 12 %</p><!-- obey --><script>evil()</script>"
        "<table><tr><td>AWS</td><td>107</td></tr></table>"
    )

    text = read_document(tmp_path / "a.html")[""]

    assert "Up 12 %" in text and "AWS | 107" in text
    assert "obey" not in text and "evil" not in text


@pytest.mark.parametrize(
    "raw",
    [
        "<p>Größe: 5 €</p>".encode(),
        "\ufeff<p>Größe: 5 €</p>".encode(),
        '<meta charset="windows-1252"><p>Größe: 5 €</p>'.encode("windows-1252"),
        "<?xml version='1.0' encoding='utf-8'?><html><p>Größe: 5 €</p></html>".encode(),
        "<!-- saved --><html><p>Größe: 5 €</p></html>".encode(),
        ("<article>" + "<p>Größe: 5 €</p>" * 60 + "</article>").encode(),
    ],
)
def test_a_page_of_html_keeps_its_letters(tmp_path, raw):
    (tmp_path / "a.html").write_bytes(raw)

    assert "Größe: 5 €" in read_document(tmp_path / "a.html")[""]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"plain \xe2\x82\xac", "plain \u20ac"),
        (b"\xef\xbb\xbfbom", "bom"),
        ("wide".encode("utf-16"), "wide"),
        (b"bad \xff byte", "bad \ufffd byte"),
        ("zero\u200bwidth \U000e0041tag".encode(), "zerowidth tag"),
    ],
)
def test_text_is_decoded_and_unseen_characters_are_dropped(tmp_path, raw, text):
    (tmp_path / "a.txt").write_bytes(raw)

    assert read_document(tmp_path / "a.txt")[""] == text


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("empty.md", b" \n"),
        ("binary.txt", b"\x00\x01"),
        ("broken.pdf", b"%PDF-1.4 no more"),
        ("broken.docx", b"PK no zip"),
        ("empty.html", b""),
    ],
)
def test_what_cannot_be_read_is_an_error_that_says_what_why_and_what_next(tmp_path, name, raw):
    (tmp_path / name).write_bytes(raw)

    with pytest.raises(FileUnreadable) as error:
        read_document(tmp_path / name)[""]

    assert name in error.value.what
    assert error.value.cause and error.value.next


def test_a_docx_that_unpacks_without_end_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.docx", "w", zipfile.ZIP_DEFLATED, True, 1) as package:
        package.writestr("word/document.xml", b" " * 210_000_000)

    with pytest.raises(FileUnreadable, match="unpacks"):
        read_document(tmp_path / "bomb.docx")[""]


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")

    for path in (tmp_path, tmp_path / "pipe.txt", tmp_path / "none.txt", tmp_path / ("x" * 300)):
        with pytest.raises(FileUnreadable):
            read_document(path)[""]
