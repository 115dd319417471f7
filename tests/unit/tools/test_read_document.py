"""Documents as text, and the tool that reads on in a material."""

import os
import zipfile
from typing import Any

import pytest

from extensions.tools.documents.parser import parse_document
from nodes.errors import FileUnreadable, ToolRefused
from nodes.tools.framework.documents import read_document
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.read_material import MAX_READ_CHARS
from tests.shipped_tools import load_shipped_tools
from tests.unit.tools.document_samples import write_docx, write_pdf

pytestmark = pytest.mark.xdist_group("documents")  # one process loads the parsers


def test_a_pdf_is_read_page_by_page(tmp_path):
    write_pdf(tmp_path / "a.pdf", "AWS revenue was 107.6 billion", "Second page")

    pages = parse_document(".pdf", 10_000, path=str(tmp_path / "a.pdf"))["text"].split("\f")

    assert [page.strip() for page in pages] == ["AWS revenue was 107.6 billion", "Second page"]


def test_a_docx_is_read_with_its_headings_and_tables(tmp_path):
    write_docx(tmp_path / "a.docx")

    text = parse_document(".docx", 10_000, path=str(tmp_path / "a.docx"))["text"]

    assert text.splitlines()[0] == "# Azure"
    assert "2024 | 75 billion" in text


@pytest.mark.parametrize("more", ["", " It is for all who work here, and for their guests." * 9])
def test_a_page_of_html_keeps_its_headings_and_paragraphs_as_markdown_has_them(tmp_path, more):
    (tmp_path / "a.html").write_text(
        f"<h1>Canteen</h1><p>It is on the ground floor.{more}</p>"
        "<h2>Opening <i>hours</i><script>evil()</script></h2>"
        "<p>It opens at 11:30.</p><p>It closes at 14:00.</p><h2></h2><h3>Payment</h3>"
        "<p>By card.</p><ul><li>debit cards<ul><li>of a bank</li></ul></li></ul>"
    )

    lines = parse_document(".html", 10_000, path=str(tmp_path / "a.html"))["text"].splitlines()

    assert [each for each in lines if "#" in each] == [
        "# Canteen",
        "## Opening hours",
        "### Payment",
    ]
    items = [each.strip() for each in lines if each.strip()[:2] == "- "]
    assert items == ["- debit cards", "- of a bank"]
    at = lines.index("It opens at 11:30.")
    assert lines[at - 2 : at + 3 : 2] == ["## Opening hours", lines[at], "It closes at 14:00."]
    assert lines[at + 1] == ""


@pytest.mark.parametrize("part", ['body class="has-sidebar"', "main", "article", "div"])
def test_a_long_page_of_html_keeps_short_lists_and_leaves_out_menus(tmp_path, part):
    told = "".join(f"<p>In year {n} the bees gave more honey than before.</p>" for n in range(30))
    menu = "<div class=menu><ul><li><a href=/>Home</a></li><li><a href=/shop>Shop</a></ul></div>"
    listed = "<p>Swarmed:</p><div><ul><li>Maple</li><li>Plum</li></ul></div><ol><li>Open</li></ol>"
    (tmp_path / "a.html").write_text(
        f"{'' if part[:4] == 'body' else menu}<{part}>{told}{listed}{told}</{part.split()[0]}>"
    )

    text = parse_document(".html", 10_000, path=str(tmp_path / "a.html"))["text"]

    assert "Swarmed:\n\n- Maple\n- Plum\n\n1. Open\n" in text
    assert "year 29" in text and "Home" not in text


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

    found = parse_document(".html", 10_000, path=str(tmp_path / "a.html"))

    assert "Größe: 5 €" in found["text"]


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


@pytest.mark.slow
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


@pytest.mark.slow
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


POEM = {"poems/long.txt": "".join(f"verse {number}\n" for number in range(1, 5_001))}


async def read(materials: dict[str, str] | None = None, **args: Any) -> str:
    (tool,) = load_shipped_tools(["read_material"], ToolSettings())
    return str(await tool.ainvoke({**args, "materials": materials or POEM}))


async def test_the_lines_come_under_a_heading_that_counts_them():
    text = await read(name="poems/long.txt", first_line=3, last_line=4)

    assert text == ("poems/long.txt, lines 3-4 of 5000; read on from line 5\n\nverse 3\nverse 4")


async def test_the_end_of_a_path_is_enough_and_the_end_of_the_text_is_named():
    assert "lines 4999-5000 of 5000; this is its end" in await read(
        name="long.txt", first_line=4999, last_line=9_999
    )


async def test_one_reading_is_limited_and_the_next_continues_it():
    first = await read(name="long.txt", first_line=1)

    heading, _, body = first.partition("\n\n")
    following = int(heading.rpartition(" ")[2])
    assert len(body) <= MAX_READ_CHARS
    assert body.endswith(f"\nverse {following - 1}")


async def test_a_line_of_any_length_can_be_read_in_parts():
    materials = {"a.json": "x" * 50_000}

    texts = [await read(materials, name="a.json", first_line=at) for at in (1, 5, 9)]

    assert sum(text.partition("\n\n")[2].count("x") for text in texts) == 50_000


async def test_in_a_diff_the_place_of_the_first_line_is_named():
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1,3 @@\n one\n+two\n+three\n"

    text = await read({"a.diff": diff}, name="a.diff", first_line=6)

    assert "Line 6 is in a.py, where the next added line is line 3 of the new file." in text


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"name": "other.txt", "first_line": 1}, "materials of this task: poems/long.txt"),
        ({"name": "long.txt", "first_line": 5001}, "has 5,000 lines, none is 5,001"),
        ({"name": "long.txt", "first_line": 9, "last_line": 8}, "last_line 8 is before"),
        ({"name": "long.txt", "first_line": 0}, "greater than or equal to 1"),
        ({"name": "long.txt", "first_line": "the first"}, "valid integer"),
        ({"name": "long.txt"}, "first_line: Field required"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_what_could_be(args: dict[str, Any], reason: str):
    with pytest.raises(ToolRefused, match=reason):
        await read(**args)


async def test_invisible_characters_of_a_material_are_not_shown():
    assert "\u200b" not in await read({"a.txt": "a\u200bb"}, name="a.txt", first_line=1)
