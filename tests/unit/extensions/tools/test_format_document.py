"""Documents as files."""

import asyncio
import io
import os
from datetime import datetime, timedelta
from pathlib import Path

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.tools.format_document import MAX_NAME_CHARS, format_document, make_file_stem
from extensions.tools.formats.docx import to_docx
from extensions.tools.formats.html import to_html
from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.settings import ToolSettings

MARKDOWN = """\
# Cloud

AWS **grew** by *17 %*, see [the report](https://a.example).

- one
  - inner

1. first

| provider | growth |
|---|---|
| AWS | 17 % |

> said

<script>evil()</script>
"""


async def write_document(folder, **arguments):
    return await format_document(ToolSettings(output=folder)).ainvoke(arguments)


def read_saved(saved):
    return Path(saved["path"]).read_text()


async def test_markdown_is_written_as_it_is(tmp_path):
    saved = await write_document(tmp_path / "new" / "folder", markdown="# A\n")

    assert (tmp_path / "new/folder/report.md").read_bytes() == b"# A\n"
    assert saved == {
        "path": str(tmp_path / "new/folder/report.md"),
        "format": "markdown",
        "bytes": 4,
    }


async def test_html_is_self_contained_and_runs_nothing(tmp_path):
    saved = await write_document(tmp_path, markdown=MARKDOWN, format="html", title="<b> & more")

    page = read_saved(saved)
    assert "<table>" in page and "<strong>grew</strong>" in page
    assert "<title>&lt;b&gt; &amp; more</title>" in page
    assert "<script>" not in page


async def test_docx_keeps_headings_lists_tables_and_emphasis(tmp_path):
    saved = await write_document(tmp_path, markdown=MARKDOWN, format="docx", title="Cloud")

    document = docx.Document(saved["path"])
    styles = {block.text: block.style.name for block in document.paragraphs if block.style}
    assert styles["Cloud"] == "Heading 1"
    assert styles["one"] == "List Bullet" and styles["inner"] == "List Bullet 2"
    assert styles["first"] == "List Number" and styles["said"] == "Quote"
    assert [cell.text for cell in document.tables[0]._cells] == [
        *("provider", "growth", "AWS", "17 %"),
    ]
    bold = [run.text for block in document.paragraphs for run in block.runs if run.bold]
    assert bold == ["grew"]


async def test_another_document_is_never_replaced(tmp_path):
    saved = await asyncio.gather(
        *(write_document(tmp_path, markdown=str(n), title="A") for n in range(5))
    )

    assert {Path(item["path"]).name for item in saved} == {
        *("a.md", "a-2.md", "a-3.md", "a-4.md", "a-5.md")
    }
    assert sorted(file.read_text().strip() for file in tmp_path.iterdir()) == list("01234")


async def test_what_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    wide = "|".join("a" * 70) + "\n" + "|".join(["-"] * 70) + "\n"

    for folder, arguments in (
        (tmp_path, {"markdown": "  "}),
        (tmp_path, {"markdown": "x" * 600_000}),
        (tmp_path, {"markdown": wide, "format": "docx"}),
    ):
        with pytest.raises(ToolRefused):
            await write_document(folder, **arguments)
    with pytest.raises(ToolFailed, match="cannot be saved"):
        await write_document(tmp_path / "file", markdown="x")


@given(st.text(max_size=200))
def test_every_title_makes_a_safe_file_name(title):
    stem = make_file_stem(title)

    assert 0 < len(stem) <= MAX_NAME_CHARS
    assert set(stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@given(st.text("ab#*-_|>`1. \n[](){}<!&", max_size=200))
def test_any_markdown_can_be_rendered(markdown):
    assert to_html(markdown, "t")
    assert to_docx(markdown, "t")


def test_a_document_is_readable_by_its_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        work = write_document(tmp_path / "out", markdown="# Title", format="markdown")
        written = asyncio.run(work)
    finally:
        os.umask(before)

    assert Path(written["path"]).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


def test_a_word_document_tells_its_title_and_when_it_was_made_and_no_library():
    told = docx.Document(io.BytesIO(to_docx("# Heading", "Which club?"))).core_properties

    assert (told.title, told.author, told.comments) == ("Which club?", "", "")
    assert datetime.now() - told.created.replace(tzinfo=None) < timedelta(days=1)
