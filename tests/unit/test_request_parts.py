import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.text.request_parts import (
    list_asking_parts,
    list_degrees,
    list_parts,
    needs_earlier_request,
)


def rank_nobody(text: str) -> list[str]:
    return []


@pytest.mark.parametrize(
    ("request_text", "parts"),
    [
        (
            "Find the bug, propose a fix, and draft a note",
            ["Find the bug", "propose a fix", "draft a note"],
        ),
        ("Prüfe den Text und schreibe einen Brief", ["Prüfe den Text", "schreibe einen Brief"]),
        ("Was kostet er, und wie ändere ich das?", ["Was kostet er", "wie ändere ich das?"]),
        ("May I fly, after I moved?", ["May I fly, after I moved?"]),
        ("Find the shop, which closed in May", ["Find the shop, which closed in May"]),
        (
            "How is it stopped, and by when is it told?",
            ["How is it stopped", "by when is it told?"],
        ),
    ],
)
def test_a_request_is_divided_into_its_orders_and_questions(
    request_text: str, parts: list[str]
) -> None:
    assert list_parts(request_text, rank_nobody) == parts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("How many hives swarmed, and which ones?", "Which hives swarmed?"),
        ("How many hives swarmed? Which hives?", "Which hives swarmed?"),
        ("Wie viele Völker schwärmten und welche?", "Welche Völker schwärmten?"),
    ],
)
def test_which_ones_after_a_number_asks_for_the_names_of_what_is_counted(
    text: str, names: str
) -> None:
    assert list_asking_parts(text)[1:] == [names]


def test_named_results_and_fragments_are_parts_of_a_fine_division() -> None:
    fragments = "Market research, pricing analysis, launch copy"
    named = "Include growth rates and a brief analysis of rivals"

    assert list_parts(fragments, rank_nobody, is_fine=True) == fragments.split(", ")
    assert list_parts(named, rank_nobody, is_fine=True) == named.split(" and ")
    assert list_parts(fragments, rank_nobody) == [fragments]


@given(st.text(max_size=400), st.booleans())
def test_parts_are_the_words_of_the_request_in_its_order(request: str, is_fine: bool) -> None:
    end = 0
    for part in list_parts(request, rank_nobody, is_fine=is_fine):
        start = request.find(part, end)
        assert start >= end
        end = start + len(part)


def test_an_and_after_between_joins_a_pair_and_other_breaks_divide():
    def both(_: str) -> list[str]:
        return ["w"]

    pair = "What is the difference between Harbour and Northside in March?"
    asked = "Between whom was this made, and on which day?"

    assert list_parts(pair, both) == [pair]
    assert list_parts("Between whom was this made? List the days.", both)[1:] == ["List the days."]
    assert list_parts(asked, both) == ["Between whom was this made", "on which day?"]
    assert list_asking_parts("Which month led in May and which in June?") == []


@pytest.mark.parametrize(
    "question",
    [
        "What do boats cost that weigh less than 5 t and are not sloops?",
        "Which boats are sloops and aren't for sale?",
        "How many loans were made in May and have a fine above 1 euro?",
        "Which loans are of novels and were renewed?",
        "Wie viele Artikel in Bremen und Hamburg haben ein Gewicht über 50 kg?",
        "Welche Boote sind neu und haben keine Segel?",
    ],
)
def test_a_denied_verb_or_a_second_name_after_and_asks_for_nothing_new(question: str) -> None:
    assert list_asking_parts(question) == []


def test_a_word_after_how_that_a_verb_follows_only_asks_how_much() -> None:
    assert list_degrees("How long may a boat stay, and how many boats are there?") == {"long"}
    assert list_degrees("Wie hoch ist die Rücklage?") == {"hoch"}
    assert list_degrees("How long before the show does it open?") == {"long"}
    assert list_degrees("How boats with a permit are moored") == set()


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("And when was it last serviced?", True),
        ("What is its price?", True),
        ("How many rooms does it have?", True),
        ("What is the average weight there?", True),
        ("And in June?", True),
        ("And only in June?", True),
        ("How much income was that?", True),
        ("What is that boat called?", False),
        ("What about Oban?", True),
        ("Which room?", True),
        ("Which boats are there?", False),
        ("Und für Studenten?", True),
        ("How many boats are there?", False),
        ("Which boats are not at their station?", False),
        ("Which boat is the longest, and what does it weigh?", False),
        ("And what did the boats cost?", False),
        ("What is the total price of them?", True),
    ],
)
def test_a_follow_up_needs_the_request_before_it_for_what_it_does_not_name(
    text: str, needs: bool
) -> None:
    assert needs_earlier_request(text) is needs
