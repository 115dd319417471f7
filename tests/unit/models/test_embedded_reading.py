"""What the embedded model reads out of text that anyone may have written."""

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from nodes.models.embedded import EmbeddedModel
from nodes.models.embedded.prompt_reading import Passage, list_sections, read_section
from nodes.models.embedded.statements import choose_statements
from nodes.models.embedded.text_similarity import extract_words, rank_by_similarity, split_sentences
from nodes.prompts.tags import wrap_in_tag
from state import Report

anything = st.text(max_size=300)
tricky = st.lists(
    st.sampled_from(["<request>", "</request>", "\n", "<intent>\n", "`SELECT 1`", "a ", "1 + 2"])
).map("".join)


@given(anything | tricky, anything | tricky)
def test_a_section_gives_back_what_was_tagged(first: str, second: str) -> None:
    text = f"{wrap_in_tag('materials', first)}\n\n{wrap_in_tag('request', second)}"

    assert read_section(text, "materials") == first.replace("<\\/", "</")
    assert read_section(text, "request") == second.replace("<\\/", "</")
    assert [part.tag for part in list_sections(text)] == ["materials", "request"]


@given(anything)
def test_every_sentence_stands_in_its_text(text: str) -> None:
    assert all(" ".join(part.split()) in " ".join(text.split()) for part in split_sentences(text))


@given(anything, st.lists(anything, max_size=5))
def test_likeness_lies_between_zero_and_one(query: str, texts: list[str]) -> None:
    ranked = rank_by_similarity(query, texts)

    assert sorted(index for index, _ in ranked) == list(range(len(texts)))
    assert all(0 <= near <= 1.000001 for _, near in ranked)


@given(anything)
def test_a_text_is_like_itself(text: str) -> None:
    expected = 1.0 if extract_words(text) else 0.0

    assert abs(rank_by_similarity(text, [text])[0][1] - expected) < 1e-9


@given(anything | tricky)
def test_any_message_gets_a_valid_report(text: str) -> None:
    model = EmbeddedModel().bind_tools([Report], tool_choice="any")

    reply: AIMessage = model.invoke([HumanMessage(text)])

    assert Report.model_validate(reply.tool_calls[0]["args"])


def test_words_that_are_frequent_each_tell_a_statement_together() -> None:
    firms = [f"Firm{n} had revenue of {n} million in 2024." for n in range(3, 12)]
    own = "Acme had revenue of 99 million in 2024."
    other = [f"Acme opened office {n} abroad." for n in range(3, 12)]
    passages = [Passage("firms.md", "\n".join([*firms, own, *other]))]

    found = choose_statements("What was the revenue of Acme in 2024?", passages, is_question=True)

    assert [each["text"] for each in found] == [own]
