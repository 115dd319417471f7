"""Which parts of a request the embedded model lists as unanswered."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.models.embedded.unanswered_parts import list_unanswered_parts

RENTS: dict[str, Any] = {
    "task": "rents",
    "worker": "researcher",
    "output": "The rent of the shop in Altona is 2,400 EUR a month.",
    "claims": [{"text": "The lease in Altona ends in 2027.", "source": "leases.md"}],
}


@pytest.mark.parametrize(
    ("request_text", "unanswered"),
    [
        ("Compare the rents of the shops. Include opening hours.", ["Include opening hours"]),
        ("What is the rent in Altona, and who insures the roof?", ["who insures the roof"]),
        ("When does the lease end, and how many parking spaces are nearby?", ["how many parking"]),
        ("In which year does the lease end, and what does the roof cost?", ["what does the roof"]),
        ("List rents, leases, and insurance premiums", ["insurance premiums"]),
        ("Give the rent; explain the deposit", ["explain the deposit"]),
        ("Set the tenants side by side: rent and insurance premiums", ["insurance premiums"]),
        ("Compare parking lots of Ottensen: rent, lease", ["Compare parking lots of Ottensen"]),
        ("Which neighbour insures the roof: the shop or the lease?", ["Which neighbour insures"]),
    ],
)
def test_a_part_whose_words_are_in_no_report_is_unanswered(
    request_text: str, unanswered: list[str]
) -> None:
    found = list_unanswered_parts(request_text, [RENTS])

    assert len(found) == 1 and found[0].startswith(unanswered[0])


@pytest.mark.parametrize(
    "request_text",
    [
        "What is the rent in Altona, and when does the lease end?",
        "Compare rents and leasing of the shops, and give a short overview.",
        "The landlord called on Monday. What is the rent of the shop?",
        "What is the rent of the shop, and why is it so high?",
        "What is the rent, in whole euros, without heating?",
        "Set the top tenants side by side: rent and when the lease ends",
        "What is the rent of the shop, and what should worry us?",
        "Quanto costa l'affitto, e quando finisce il contratto?",
        "What is the capital of Australia, and how many people live in Sydney?",
        'For the request "Compare rents and parking": list rents and opening hours.',
        "",
    ],
    ids=[
        *("answered", "other_forms", "statement", "pronoun", "condition", "list", "one_word"),
        *("language", "no_part", "own_task", "empty"),
    ],
)
def test_other_parts_are_not_called_unanswered(request_text: str) -> None:
    assert list_unanswered_parts(request_text, [RENTS]) == []


@pytest.mark.parametrize(
    "request_text",
    [
        "How many tenants does the lease in Altona have?",
        "Who built the shop in Altona?",
        "What is the rent of the shop in Wandsbek?",
        "What was the rent of the shop in 2019?",
        "Which shop in Altona has the highest rent deposit?",
        "What is Ottensen's rent?",
        "When does Ottensen\u2019s lease end?",
    ],
    ids=["counted", "who", "name", "year", "superlative", "possessive", "curly_apostrophe"],
)
def test_a_question_is_unanswered_where_its_name_or_what_it_asks_is_in_no_report(
    request_text: str,
) -> None:
    assert list_unanswered_parts(request_text, [RENTS]) == [request_text.rstrip("?")]


def test_a_superlative_is_answered_by_what_it_measures() -> None:
    prices = {"output": "| coffee | price |\n| --- | --- |\n| Huila | 24 |"}

    found = list_unanswered_parts("Which coffee is cheapest, and where does it grow?", [prices])

    assert found == []


def test_the_name_of_a_task_that_was_done_answers_its_part() -> None:
    review = {"task": "safety", "worker": "safety", "output": "Four findings in parcels.py."}
    asked = "Review parcels.py, find safety flaws, and list outdated licences"

    found = list_unanswered_parts(asked, [review])

    assert found == ["list outdated licences"]


@given(st.text(max_size=300), st.text(max_size=200))
def test_any_request_has_only_parts_of_its_own(request_text: str, output: str) -> None:
    parts = list_unanswered_parts(request_text, [{"output": output}])

    assert all(word in request_text for part in parts for word in part.replace(",", " ").split())


def test_the_time_for_long_texts_grows_no_faster_than_their_length() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [f"{one}{other}{third}ing" for one in letters for other in letters for third in letters]

    def measure_s(count: int) -> float:
        asked = ". ".join(f"List {' '.join(words[n:count:250])} and parking" for n in range(250))
        began_s = time.process_time()
        assert list_unanswered_parts(asked, [{"output": " ".join(words[:count])}]) == ["parking"]
        return time.process_time() - began_s

    short_s, long_s = (min(measure_s(count) for _ in range(3)) for count in (4_000, 16_000))

    assert long_s / short_s < 10
