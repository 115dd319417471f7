"""Texts that are measured and read by rules."""

import pytest

from nodes.errors import ToolRefused
from teams.research_writing_code.tools.check_prose import check_prose

pytestmark = pytest.mark.slow

TEXT = (
    "The hall is open on Monday. It has a very unique roof.\n"
    "At the end of the day you will recieve a key.\n"
)


async def call_tool(materials=None, **arguments):
    return await check_prose.ainvoke({"materials": materials, **arguments})


def list_messages(told):
    return {(each["line"], each["message"]) for each in told["findings"]}


async def test_words_and_sentences_are_those_that_one_counts():
    told = await call_tool({"a.md": TEXT})

    words, ends = len(TEXT.split()), TEXT.count(".")
    assert f"| a.md | {words} | {ends} |" in told["summary"]
    assert told["claims"][0]["text"] == f"a.md has {words} words, {ends} sentences and 3 remarks."


async def test_remarks_stand_at_their_line_with_what_might_stand_there():
    told = await call_tool({"a.md": TEXT})

    assert list_messages(told) == {
        (1, "cannot be compared: “very unique”"),
        (2, "cliché: “At the end of the day”"),
        (2, "in no word list: “recieve”"),
    }
    assert "perhaps receive" in {each["suggestion"] for each in told["findings"]}
    assert any("language model or a human" in gap for gap in told["gaps"])


async def test_names_british_spelling_code_and_headings_are_no_misspellings():
    text = (
        "# Heddings\n\nColour the metre in Gruenau, dialogue `recieve` and organise it by e-mail.\n"
    )

    assert (await call_tool({"a.md": text}))["findings"] == []


async def test_a_sentence_that_is_too_long_is_reported_with_its_words():
    text = f"{' '.join(['word'] * 19 + ['other'] * 19)} end.\n"

    assert any(
        "39 words in a sentence" in said for _, said in list_messages(await call_tool({"a": text}))
    )


async def test_a_text_over_the_limit_is_a_finding_and_one_within_it_a_claim():
    over = await call_tool({"a.md": TEXT}, max_words=10)
    within = await call_tool({"a.md": TEXT}, max_words=99)

    assert (None, "23 words, 13 over the 10 that are allowed") in list_messages(over)
    assert within["claims"][1]["text"] == "a.md keeps within the 99 words that are allowed."


async def test_only_the_named_texts_are_checked():
    told = await call_tool({"a.md": TEXT, "in/b.md": TEXT}, files=["b.md"])

    assert {each["file"] for each in told["findings"]} == {"in/b.md"}


async def test_a_text_that_a_model_wrote_is_checked_in_place_of_the_files():
    told = await call_tool({"a.md": TEXT}, text="We recieve it in our house today.")

    assert {each["file"] for each in told["findings"]} == {"draft"}


async def test_a_name_that_no_material_has_is_refused_with_those_that_exist():
    with pytest.raises(ToolRefused, match=r"no material is named 'c.md'.*a.md"):
        await call_tool({"a.md": TEXT}, files=["c.md"])


@pytest.mark.parametrize(
    "materials", [None, {"a.py": "x = 1"}, {"t.csv": "a,b\n"}, {"b.md": "# A\n"}]
)
async def test_without_a_text_it_says_what_to_give(materials):
    with pytest.raises(ToolRefused, match=r"there is no text of whole sentences.*--file"):
        await call_tool(materials)


async def test_a_huge_text_stays_within_the_size_of_an_answer():
    told = await call_tool({"a.md": "It is a very unique thing that you recieve.\n\n" * 8000})

    assert len(str(told)) < 20_000
    assert any("more remarks are left out" in gap for gap in told["gaps"])
    assert told["failures"] == ["only the first 200000 characters of a.md were read"]


async def test_a_text_of_comments_without_end_is_counted_at_once():
    told = await call_tool({"a.md": f"It is a text of words.\n\n{'<!--' * 100_000}"})

    assert "a.md has 6 words" in told["claims"][0]["text"]
