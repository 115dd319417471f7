"""Search over the folder and the materials."""

import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import AgentState, create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.documents.index import PassageIndex, build_match_expression
from nodes.tools.documents.passages import MAX_PASSAGE_CHARS, Passage, split_document
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.search_documents import search_documents
from tests.unit.tools.document_samples import write_docx, write_pdf


async def call_search(folder, query, **arguments):
    tool = search_documents(ToolSettings(documents=folder))
    return await tool.ainvoke({"query": query, **arguments})


async def test_the_passage_that_fits_best_comes_first_with_source_and_place(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "cloud.md").write_text(
        "# Cloud\n\nAWS sells servers.\n\n## Growth\n\nAWS revenue growth was 17 % in 2024.\n"
    )
    (tmp_path / "other.txt").write_text("Bananas are yellow.")

    found = await call_search(tmp_path, "AWS revenue growth")

    assert found["results"][0] == {
        "source": "sub/cloud.md",
        "place": "Growth",
        "text": "## Growth\n\nAWS revenue growth was 17 % in 2024.",
    }
    assert all("Bananas" not in hit["text"] for hit in found["results"])


async def test_every_kind_of_document_is_found(tmp_path):
    write_pdf(tmp_path / "a.pdf", "nothing here", "zebra in the PDF")
    write_docx(tmp_path / "b.docx")
    (tmp_path / "c.html").write_text("<p>zebra in the page</p>")
    (tmp_path / "d.csv").write_text("animal,count\nzebra,3\n")

    zebras = await call_search(tmp_path, "zebra")
    azure = await call_search(tmp_path, "azure")

    assert {(hit["source"], hit["place"]) for hit in zebras["results"]} == {
        ("a.pdf", "page 2"),
        ("c.html", ""),
        ("d.csv", "lines 1-2"),
    }
    assert azure["results"][0]["source"] == "b.docx"


async def test_materials_are_searched_with_the_folder_and_hide_its_namesakes(tmp_path):
    (tmp_path / "note.md").write_text("zebra of the folder")

    found = await call_search(tmp_path, "zebra", materials={"note.md": "zebra of the run"})

    assert [hit["text"] for hit in found["results"]] == ["zebra of the run"]


async def test_a_changed_document_is_read_again_and_a_removed_one_forgotten(tmp_path):
    tool = search_documents(ToolSettings(documents=tmp_path))
    (tmp_path / "a.md").write_text("old zebra")
    await tool.ainvoke({"query": "zebra"})

    (tmp_path / "a.md").write_text("a much newer zebra")
    changed = await tool.ainvoke({"query": "zebra"})
    (tmp_path / "a.md").unlink()
    (tmp_path / "b.md").write_text("lion")
    removed = await tool.ainvoke({"query": "zebra"})

    assert [hit["text"] for hit in changed["results"]] == ["a much newer zebra"]
    assert removed["results"] == []


async def test_no_hit_is_an_answer_with_a_note(tmp_path):
    (tmp_path / "a.md").write_text("text")

    found = await call_search(tmp_path, "zebra")

    assert found["results"] == [] and "note" in found


async def test_what_is_not_read_is_named_with_the_reason(tmp_path):
    (tmp_path / "broken.pdf").write_bytes(b"no pdf")
    (tmp_path / "a.md").write_text("text")
    (tmp_path / "picture.png").write_bytes(b"png")
    (tmp_path / "secret").symlink_to("/etc/passwd")
    (tmp_path / "link.txt").symlink_to("/etc/passwd")

    found = await call_search(tmp_path, "root")

    assert found["results"] == []
    assert {item["source"] for item in found["skipped"]} == {
        *("broken.pdf", "picture.png", "secret", "link.txt")
    }
    assert all(item["reason"] for item in found["skipped"])
    (gap,) = found["gaps"]
    assert gap.startswith("Not searched: broken.pdf (not a readable PDF")
    assert "picture.png" not in gap


async def test_where_no_document_can_be_read_the_search_has_failed(tmp_path):
    (tmp_path / "broken.pdf").write_bytes(b"no pdf")

    with pytest.raises(ToolFailed, match=r"no document could be read: broken\.pdf"):
        await call_search(tmp_path, "root")


async def test_nothing_to_search_is_refused(tmp_path):
    for folder in (None, tmp_path, tmp_path / "missing"):
        with pytest.raises(ToolRefused):
            await call_search(folder, "zebra")


async def test_an_agent_hands_its_materials_over_and_runs_without_them(tmp_path):
    class State(AgentState):
        materials: dict[str, str]

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools, **options):
            return self

    (tmp_path / "folder.md").write_text("lion")
    call = {"name": "search_documents", "args": {"query": "zebra"}, "id": "1"}
    tool = search_documents(ToolSettings(documents=tmp_path))

    answers = []
    states: list[dict[str, Any]] = [{"materials": {"m.md": "zebra"}}, {"materials": {}}, {}]
    for given_state in states:
        model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
        agent = create_agent(model, [tool], state_schema=State)
        asked: Any = {"messages": [("user", "go")], **given_state}
        state = await agent.ainvoke(asked)
        answers.append(state["messages"][-2].content)

    assert ["m.md" in answer for answer in answers] == [True, False, False]
    assert all("results" in answer for answer in answers)


@given(st.text(max_size=80))
def test_no_query_is_syntax(query):
    index = PassageIndex([Passage("a", "", 'zebra OR lion NEAR(x) * " ^ text:1')])

    assert isinstance(index.search(query, 3), list)


@given(st.lists(st.sampled_from(["zebra", "the", "NOT", '"', "*", "co-op", "x:y"]), max_size=8))
def test_the_words_are_joined_by_or_and_quoted(words):
    expression = build_match_expression(" ".join(words))

    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE found USING fts5(text)")
    if expression:
        base.execute("SELECT * FROM found WHERE found MATCH ?", (expression,)).fetchall()
    assert '"the"' not in expression or "zebra" not in expression


@given(st.text("ab \n#.", max_size=6000))
def test_passages_are_short_and_lose_no_letter(text):
    passages = split_document("a.md", text)

    assert all(0 < len(passage.text) <= MAX_PASSAGE_CHARS for passage in passages)
    kept = "".join("".join(passage.text.split()) for passage in passages)
    assert kept == "".join(text.split())


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
