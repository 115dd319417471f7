"""Showing passages as Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from extensions.tools.documents.passage_markdown import format_passage


def show(text, source="a.md", place="Fees"):
    return format_passage({"source": source, "place": place, "text": text})


def test_a_passage_is_quoted_under_its_file_and_place():
    assert show("A berth costs\n12 euros.") == "**a.md**, Fees\n\n> A berth costs\n> 12 euros."


def test_lists_links_rows_and_code_stay_as_they_are():
    text = "- [north](https://example.com)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = [1]\n```"

    assert show(text).split("\n\n", 1)[1] == "\n".join(
        f"> {line}".rstrip() for line in text.split("\n")
    )


def test_headings_become_bold():
    assert "> **Fees**\n>\n> Twelve." in show("## Fees\nTwelve.")
    assert "> **Fees**\n>\n> Twelve." in show("Fees\n====\n\nTwelve.", source="a.rst")


def test_a_table_of_plain_text_is_shown_as_code():
    table = "====  ===\na     1\n====  ==="

    assert f"```\n{table}\n```" in show(table, source="a.rst").replace("> ", "")


@pytest.mark.parametrize("source", ["a.csv", "a.log", "book.xlsx#Sheet"])
def test_rows_and_logs_are_shown_as_code_with_their_columns(source):
    shown = show("north,12", source=source, place="lines 2-2; columns: berth,fee")

    assert shown == f"**{source}**, lines 2-2\n\n> ```\n> berth,fee\n> north,12\n> ```"


def test_rows_cut_from_a_table_are_shown_with_its_columns():
    shown = show("| north | 12 |", place="Fees; columns: | Berth | Fee |")

    assert shown.endswith("> | Berth | Fee |\n> | --- | --- |\n> | north | 12 |")
    assert shown.startswith("**a.md**, Fees\n")


def test_pictures_and_html_become_text_and_a_name_stays_on_its_line():
    shown = show("![x](https://evil.example/p) <script>", source="a\n# b*.md")

    tokens = MarkdownIt("commonmark").parse(shown)
    kinds = {child.type for token in tokens for child in (token.children or ())}
    assert not kinds & {"image", "html_inline"} and "heading_open" not in str(tokens)
    assert shown.startswith("**a # b\\*.md**")


@given(st.text("ab#=-`~>|*[]()!<\n ", max_size=200))
def test_nothing_leaves_its_quotation_or_makes_a_heading(text):
    tokens = MarkdownIt("commonmark").parse(f"{show(text)}\n\nThe end.")

    assert [token.content for token in tokens if token.level == 1][-1:] == ["The end."]
    assert not {"html_block", "heading_open"} & {token.type for token in tokens}
