"""The answer of a run as a file."""

from pathlib import Path

import docx
import pytest

from graph.pages.answer_file import write_answer
from nodes.errors import OutputFailed, UsageError

ANSWER = {
    "text": "Huila costs **24 EUR**.\n\n| coffee | price |\n| --- | --- |\n| Huila | 24 |",
    "sources": ["prices.csv"],
    "gaps": ["No price of 2023."],
    "claims": [
        {"text": "Huila: 24", "source": "prices.csv", "quotation": "Huila,24", "proof": "quoted"},
        {"text": "Nobody says this.", "source": "", "quotation": "", "proof": "stated"},
    ],
}


def test_an_answer_is_written_as_markdown_with_headings_and_its_proofs(tmp_path: Path):
    write_answer("Which coffee\ncosts least?", ANSWER, tmp_path / "a.md")

    text = (tmp_path / "a.md").read_text()
    assert text.startswith("# Which coffee costs least?\n\nHuila costs **24 EUR**.")
    assert "## Sources\n\n- prices.csv" in text and "## Gaps\n\n- No price of 2023." in text
    assert text.endswith("## Proofs\n\n- Huila: 24 “Huila,24” (prices.csv, quoted)\n")


def test_an_answer_is_written_for_word_with_its_tables(tmp_path: Path):
    write_answer("Which coffee?", ANSWER, tmp_path / "a.docx")

    document = docx.Document(str(tmp_path / "a.docx"))
    titles = [p.text for p in document.paragraphs if p.style and "Heading" in str(p.style.name)]
    assert titles == ["Which coffee?", "Sources", "Gaps", "Proofs"]
    assert [cell.text for cell in document.tables[0].rows[1].cells] == ["Huila", "24"]


def test_a_picture_in_an_answer_loads_nothing(tmp_path: Path):
    write_answer("x", {"text": "![](https://example.org/a.png)"}, tmp_path / "a.md")

    assert "\\![](https" in (tmp_path / "a.md").read_text()


@pytest.mark.parametrize(("answer", "name"), [(ANSWER, "a.pdf"), ({}, "a.md")])
def test_another_format_and_a_run_without_an_answer_are_one_line(tmp_path, answer, name):
    with pytest.raises(UsageError):
        write_answer("x", answer, tmp_path / name)


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path):
    with pytest.raises(OutputFailed, match="cannot write"):
        write_answer("x", ANSWER, tmp_path / "none" / "a.md")


def test_a_proof_is_one_quoted_line_whatever_markdown_its_passage_holds(tmp_path):
    passage = "## Workshop\n\nIt closes on 30 June:\n- saws\n- drills\n### Hall\nIt stays."
    claim = {"text": passage, "quotation": passage, "source": "minutes.md", "proof": "quoted"}
    alone = {**claim, "quotation": ""}

    write_answer("Workshop", {"text": "x", "claims": [claim, alone]}, tmp_path / "a.md")
    write_answer("Workshop", {"text": "x", "claims": [claim, alone]}, tmp_path / "a.docx")

    shown = "“Workshop / It closes on 30 June: - saws - drills Hall It stays.” (minutes.md, quoted)"
    assert (tmp_path / "a.md").read_text().endswith(f"## Proofs\n\n- {shown}\n- {shown}\n")
    paragraphs = docx.Document(str(tmp_path / "a.docx")).paragraphs
    assert [p.text for p in paragraphs][-2:] == [shown, shown], "one paragraph each, no headings"
