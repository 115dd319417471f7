"""Documents composed out of materials, or of what a writer wrote."""

import pytest
from docx import Document

from nodes.errors import ToolRefused
from nodes.tools.framework.settings import ToolSettings
from tests.shipped_tools import load_shipped_tools

NOTES = (
    "# Fair\n\nThe fair begins on 3 May. It rains.\n\n"
    "## Costs\n\nA stand costs 40 EUR. Power is extra.\n"
)


@pytest.fixture
def compose(tmp_path):
    (tool,) = load_shipped_tools(["compose_document"], ToolSettings(output=tmp_path / "out"))

    async def call(materials=None, **arguments):
        return await tool.ainvoke({"materials": materials, **arguments})

    return call


async def test_a_draft_holds_sentences_of_the_material_and_no_others(compose):
    told = await compose({"a.md": NOTES}, draft=True, query="costs of a stand")

    sentences = [claim["text"] for claim in told["claims"]]
    assert "A stand costs 40 EUR." in sentences
    assert all(
        claim["quotation"] in NOTES and claim["source"] == "a.md" for claim in told["claims"]
    )
    assert any("takes a language model or a person" in gap for gap in told["gaps"])


async def test_a_text_is_put_into_a_format_as_it_stands(compose, tmp_path):
    told = await compose({"a.md": NOTES}, format="docx", title="The fair")

    document = Document(str(tmp_path / "out" / "the-fair.docx"))
    said = "\n".join(paragraph.text for paragraph in document.paragraphs)
    assert "A stand costs 40 EUR. Power is extra." in said
    assert told["summary"].splitlines()[-1].startswith("The document is written: the-fair.docx (")
    assert next(iter(told)) == "path" and told["path"].endswith("the-fair.docx")


async def test_a_new_text_in_a_format_is_a_draft_and_not_the_material(compose):
    told = await compose({"a.md": NOTES}, draft=True, query="costs", format="html")

    assert any("sentences of the material" in gap for gap in told["gaps"])


async def test_what_a_writer_wrote_is_written_to_the_file(compose, tmp_path):
    await compose({"a.md": NOTES}, markdown="# Notice\n\nCome.", format="markdown")

    (written,) = (tmp_path / "out").iterdir()
    assert written.name == "document.md" and written.stat().st_size == len("# Notice\n\nCome.\n")


async def test_without_a_text_a_draft_or_a_format_nothing_is_composed(compose, tmp_path):
    told = await compose({"a.md": NOTES}, query="spelling")

    assert told["summary"] == "" and not (tmp_path / "out").exists()


async def test_without_a_format_no_file_is_written(compose, tmp_path):
    await compose({"a.md": NOTES}, draft=True, query="costs")

    assert not (tmp_path / "out").exists()


async def test_without_material_it_says_what_to_give(compose):
    with pytest.raises(ToolRefused, match="there is no text of whole sentences"):
        await compose({"a.csv": "a,b\n"}, draft=True)
