"""Splitting documents into passages, and showing them as Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from extensions.tools.documents.passage_markdown import format_passage
from extensions.tools.documents.passages import MAX_PASSAGE_CHARS, split_document

LONG = "The berth is swept each morning before the ferry comes in. " * 12


def list_places(source, text):
    return [passage.place for passage in split_document(source, text)]


@pytest.mark.parametrize("suffix", [".md", ".rst", ".txt", ".adoc", ".log"])
@given(st.text("ab1 \n#.=-|`*:", max_size=3000))
def test_passages_are_short_and_lose_no_letter(suffix, text):
    passages = split_document("a" + suffix, text)

    assert all(0 < len(passage.text) <= MAX_PASSAGE_CHARS for passage in passages)
    kept = "".join("".join(passage.text.split()) for passage in passages)
    assert kept == "".join(text.split())


@given(
    st.lists(st.sampled_from(["# A", "## B", "text.", "", "- item", "| 1 |", "```"]), max_size=30)
)
def test_every_line_of_a_passage_is_in_the_document_as_it_is(lines):
    text = "\n".join(lines)

    for passage in split_document("a.md", text):
        assert passage.text in text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a.md", "# Dock\n\n{}\n\n## Fees\n\n{}\n\n# Ferry\n\n{}"),
        ("a.md", "Dock\n====\n\n{}\n\nFees\n----\n\n{}\n\nFerry\n=====\n\n{}"),
        ("a.rst", "====\nDock\n====\n\n{}\n\nFees\n~~~~\n\n{}\n\n=====\nFerry\n=====\n\n{}"),
        ("a.rst", "Dock\n++++\n\n{}\n\nFees\n^^^^\n\n{}\n\nFerry\n+++++\n\n{}"),
        ("a.adoc", "= Dock\n\n{}\n\n== Fees\n\n{}\n\n= Ferry\n\n{}"),
    ],
)
def test_a_passage_is_placed_under_the_headings_above_it(source, text):
    places = list_places(source, text.format(LONG, LONG, LONG))

    assert places == ["Dock", "Dock > Fees", "Ferry"]


def test_headings_in_capitals_and_with_numbers_are_found_in_plain_text():
    manual = f"NAME\n    berth - moor a boat\n\nEXIT STATUS\n    0 if moored\n\n{LONG}"
    contract = f"1. Purpose\n\n{LONG}\n\n2. Fees\n\n{LONG}\n\n2.1 Late fees\n\n{LONG}"

    assert list_places("manual.txt", manual) == ["NAME", "EXIT STATUS"]
    assert list_places("contract.txt", contract) == [
        *("1. Purpose", "2. Fees", "2. Fees > 2.1 Late fees"),
    ]


def test_a_heading_of_several_lines_is_one_heading():
    (passage,) = split_document(
        "news.txt", f"New in 3.1\nReleased on 2026-01-31\n{'=' * 22}\n\nA dock.\n"
    )

    assert passage.place == "New in 3.1 Released on 2026-01-31"
    assert passage.text.endswith("======\n\nA dock.")


def test_the_title_of_a_whole_document_is_not_repeated_in_every_place():
    text = f"# Harbour\n\n{LONG}\n\n## Fees\n\n{LONG}\n\n## Ferry\n\n{LONG}"

    assert list_places("a.md", text) == ["Harbour", "Fees", "Ferry"]


def test_a_comment_in_code_is_no_heading():
    code = "# not a heading\nrun\n"

    assert list_places("a.md", f"```sh\n{code}```\n") == list_places("a.yaml", code) == [""]


def test_a_version_keeps_its_date_and_all_that_changed():
    text = "# A\n\n{}\n\n## 1.2.3 (2026-01-31)\n\n### Fixed\n\n- pump\n\n### Added\n\n- crane\n"

    *_, last = split_document("news.md", text.format(LONG) + "\n# B\n\n" + LONG)[:2]

    assert last.place == "A > 1.2.3 (2026-01-31)"
    assert last.text == "## 1.2.3 (2026-01-31)\n\n### Fixed\n\n- pump\n\n### Added\n\n- crane"


def test_no_item_row_sentence_or_code_is_cut_that_fits_into_a_passage():
    item = "- Item number one that is\n  wrapped.\n"
    row, code = "| berth | 12 |\n", "```\n" + "run\n" * 100 + "```\n"
    text = item * 60 + "\n" + row * 90 + "\n" + code * 3 + "\n" + LONG * 5

    texts = [passage.text for passage in split_document("a.md", text)]

    assert len(texts) > 5
    assert all(each.startswith(("- Item", "| berth", "```", "The berth")) for each in texts)
    assert all(each.endswith(("wrapped.", "12 |", "```", "comes in.")) for each in texts)
    assert all(each.count("```") % 2 == 0 for each in texts)


def test_rows_cut_from_a_table_name_its_columns():
    table = "| Berth | Fee |\n| --- | --- |\n" + "| north | 12 |\n" * 300

    first, second, *_ = split_document("a.md", f"# Fees\n\n{table}")

    assert first.place == "Fees"
    assert second.place == "Fees; columns: | Berth | Fee |"


def test_what_a_colon_announces_stays_with_it():
    above = LONG + "Quiet. " * 38

    *_, last = split_document("a.md", f"{above}\n\nThere are two docks:\n\n- north\n\n- south\n")

    assert last.text == "There are two docks:\n\n- north\n\n- south"


def test_a_heading_in_html_is_the_place_of_its_passage():
    page = '<h3 name="a">\nHow do I <b>moor</b>?\n</h3>\n\nAsk the harbour master.\n'

    (passage,) = split_document("help.md", page)

    assert passage.place == "How do I moor?"
    assert passage.text == "Ask the harbour master."


def test_text_behind_a_heading_in_html_on_the_same_line_is_kept():
    (passage,) = split_document("help.md", "<h2>Fees</h2> Twelve euros.\n")

    assert passage.text == "Twelve euros."


def test_a_heading_in_html_without_text_is_a_passage():
    texts = [each.text for each in split_document("help.md", "<h2>Call 112</h2>\n<h2>Fees</h2>")]

    assert texts == ["Call 112", "Fees"]


def test_a_table_of_contents_is_no_passage():
    page = "# Help\n\n* [Mooring](#mooring)\n* [Fees](#fees)\n\n# Fees\n\n* [Prices](prices.md)\n"

    texts = [passage.text for passage in split_document("help.md", page)]

    assert texts == ["# Help", "# Fees\n\n* [Prices](prices.md)"]


def show(text, source="a.md", place="Fees"):
    return format_passage({"source": source, "place": place, "text": text})


def test_a_passage_is_quoted_under_its_file_and_place():
    assert show("A berth costs\n12 euros.") == "**a.md**, Fees\n\n> A berth costs\n> 12 euros."


def test_lines_of_a_letter_stay_lines_and_a_wrapped_paragraph_does_not():
    address, wrapped = (
        "Moor Street Trust\n2 October 2025",
        "The heating will be repaired, and the\nhall",
    )

    assert show(address, source="a.txt", place="") == (
        "**a.txt**\n\n> Moor Street Trust  \n> 2 October 2025"
    )
    assert show(wrapped, source="a.txt", place="").endswith("repaired, and the\n> hall")


def test_lists_links_rows_and_code_stay_as_they_are():
    text = "- [north](https://example.com)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = [1]\n```"

    assert show(text).split("\n\n", 1)[1] == "\n".join(
        f"> {line}".rstrip() for line in text.split("\n")
    )


def test_headings_become_bold():
    assert "> **Fees**\n>\n> Twelve." in show("## Fees\nTwelve.", place="")
    assert "> **Fees**\n>\n> Twelve." in show("Fees\n====\n\nTwelve.", source="a.rst", place="")


def test_a_heading_that_the_place_names_is_not_shown_twice():
    shown = "**a.md**, Help > Fees\n\n> Twelve."

    assert show("## Fees\n\nTwelve.", place="Help > Fees") == shown
    assert show("## Fees", place="Fees") == "**a.md**, Fees\n\n> **Fees**\n>"


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


LETTER = """Alder Dairy
Mill Lane 4

3 April 2026

Dear Ms Okafor,

thank you for your call. We are glad that the class wants to come.

Date and time

We suggest Tuesday, 19 May 2026, at 9 in the morning.

Price

We charge 4 euros for each child. Teachers who come along pay nothing.

With kind regards

Hanna Vogel
"""


def test_a_short_line_alone_above_a_paragraph_is_a_heading_of_a_letter() -> None:
    places = [passage.place for passage in split_document("letter.txt", LETTER)]

    assert places == ["", "Date and time", "Price"]
