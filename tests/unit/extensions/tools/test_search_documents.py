"""Search over the folder and the materials."""

import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import AgentState, create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from extensions.tools.documents.index import PassageIndex, build_match_expression, list_query_terms
from extensions.tools.documents.library import get_library
from extensions.tools.documents.passages import Passage
from extensions.tools.search_documents import search_documents
from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.settings import ToolSettings
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


async def test_the_words_of_a_query_that_no_document_has_are_named(tmp_path):
    (tmp_path / "hives.md").write_text("The orchard has 12 hives. Since 2.1.0 they are painted.")

    some = await call_search(tmp_path, "hives of the orchard in the harbour")
    most = await call_search(tmp_path, "stings of hives in the harbour in 2019")
    version = await call_search(tmp_path, "which hive is painted since 2.1.0")

    assert (some["absent"], some["is_complete"]) == (["harbour"], True)
    assert (most["absent"], most["is_complete"]) == (["stings", "harbour", "2019"], False)
    assert "absent" not in version
    name = await call_search(tmp_path, "hives painted max_hives")
    assert name["absent"] == ["max_hives"]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
def test_the_words_are_joined_by_or_and_quoted_with_those_without_content_last(words):
    expression = build_match_expression(list_query_terms(" ".join(words)))

    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE found USING fts5(text)")
    if expression:
        base.execute("SELECT * FROM found WHERE found MATCH ?", (expression,)).fetchall()
    assert "zebra" not in expression.partition('"the"')[2]


def search_texts(query, *texts):
    passages = [Passage("a.md", "", text) for text in texts]
    return [hit.passage.text for hit in PassageIndex(passages).search(query, 3)]


def test_a_version_is_found_as_one_number_with_or_without_its_v():
    texts = ("3.2.1 has 1 fix", "v1.2.3 has fixes", "1.2.30 has fixes")

    assert search_texts("version 1.2.3", *texts)[0] == "v1.2.3 has fixes"
    assert search_texts("v3.2.1", *texts)[0] == "3.2.1 has 1 fix"


def test_a_passage_with_all_words_comes_before_one_that_repeats_a_word():
    repeated, whole = "berth berth berth berth", "A berth costs a fee of twelve euros in winter."

    assert search_texts("berth fee winter", repeated, whole, "fee")[0] == whole


def test_words_without_content_decide_between_passages_that_are_alike_otherwise():
    texts = ("The last release was late.", "The next release will be late.", "Nothing.")

    assert search_texts("the next release", *texts)[0] == texts[1]


def test_a_list_of_addresses_comes_after_what_is_to_be_read():
    addresses = "[1.2.3]: https://example.com/1.2.3\n[1.2.4]: https://example.com/1.2.4"

    assert (
        search_texts("1.2.4", addresses, "1.2.4 mends the pump of the old berth.")[1] == addresses
    )


async def test_the_same_passage_of_two_documents_is_shown_once(tmp_path):
    (tmp_path / "a.md").write_text("Berth\nfees rise")
    (tmp_path / "b.md").write_text("Berth fees rise")

    found = await call_search(tmp_path, "fees")

    assert [hit["source"] for hit in found["results"]] == ["a.md"]


def test_a_question_in_another_language_finds_numbers_and_names():
    assert search_texts("Wann erschien 1.2.3 von Quay?", "Quay 1.2.3 (2026-01-31)", "Other")


async def test_a_document_that_is_too_long_is_searched_in_part_with_a_gap(tmp_path):
    (tmp_path / "long.txt").write_text("zebra\n\n" + "word " * 400_000)

    found = await call_search(tmp_path, "zebra")

    assert found["results"][0]["text"].startswith("zebra")
    assert found["gaps"][0].startswith("Not searched: long.txt (its end: only")


async def test_materials_are_weighed_with_the_folder_without_indexing_it_again(tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nzebra\n\n# B\n\nzebra and lion")
    tool = search_documents(ToolSettings(documents=tmp_path))
    base, _, _ = await get_library(tmp_path).get_index({})

    found = await tool.ainvoke({"query": "lion gnu", "materials": {"m.md": "a gnu and a lion"}})

    assert [hit["source"] for hit in found["results"]] == ["m.md", "a.md"]
    assert (await get_library(tmp_path).get_index({}))[0] is base


def find_texts(query: str, *texts: str) -> list[str]:
    index = PassageIndex([Passage("a.md", "", text) for text in texts])
    return [hit.passage.text for hit in index.search(query, 5)]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Kündigungsfrist", "Die Kündigung ist mit einer Frist von drei Monaten möglich."),
        ("Heizungsreparatur", "Reparaturen der Heizung zahlt die Vermieterin."),
        ("Reparatur", "Kleine Reparaturen zahlt der Mieter."),
        ("Bootsplätze", "Jedes Boot hat einen Platz am Steg."),
    ],
)
def test_a_german_word_that_no_passage_has_is_found_by_its_forms_or_its_two_parts(query, text):
    index = PassageIndex([Passage("a.md", "", text), Passage("b.md", "", "Der Zaun ist neu.")])

    assert [hit.passage.text for hit in index.search(query, 5)] == [text]
    assert index.split_words(query) == ([query.lower()], [])


@pytest.mark.parametrize("query", ["Kündigungsfrist", "overhaul", "Zaungast"])
def test_a_word_whose_parts_no_passage_has_together_is_absent(query):
    texts = ["Die Kündigung ist schriftlich.", "Die Frist endet im Mai.", "Over the haul, Zaun."]
    index = PassageIndex([Passage(f"{n}.md", "", text) for n, text in enumerate(texts)])

    assert index.split_words(query) == ([], [query.lower()])


def test_a_word_that_a_passage_has_is_not_divided():
    whole, apart = "Die Kündigungsfrist endet.", "Eine Kündigung, eine Frist."

    assert find_texts("Kündigungsfrist", whole, apart) == [whole]
