"""Where the quotations of a report's claims are in the materials."""

import pytest

from nodes.proof.quotations import CONTEXT_CHARS, MAX_PLACES, find_quotation_places
from state import Claim

TEXT = "# Prices\n\nHuila costs 24 EUR.\nIt is washed,\nand dried in the sun.\n"
TABLE = "coffee,origin,eur\nHuila,Colombia,24\nSidamo,Ethiopia,27\n"


def find_one(quote: str, text: str = TEXT) -> dict[str, object]:
    (place,) = find_quotation_places([Claim(text="c", source="a", quote=quote)], {"a": text})
    return place


def test_a_quotation_is_found_with_its_line_and_what_is_around_it():
    assert find_one("Huila costs 24 EUR.") == {
        "claim": 0,
        "source": "a",
        "line": 3,
        "before": "# Prices\n\n",
        "quote": "Huila costs 24 EUR.",
        "after": "\nIt is washed,\nand dried in the sun.\n",
    }


def test_spaces_may_differ():
    place = find_one("It is washed, and dried")

    assert place["before"] == "# Prices Huila costs 24 EUR. " and "line" not in place


def test_a_row_that_is_quoted_by_its_columns_is_found_in_the_table():
    place = find_one("coffee: Sidamo; eur: 27", TABLE)

    assert (place["line"], place["quote"]) == (3, "Sidamo,Ethiopia,27")


@pytest.mark.parametrize("quote", ["Huila costs 25 EUR.", "coffee: Sidamo; eur: 28", "a: b", " "])
def test_what_is_not_in_the_text_has_no_place(quote: str):
    claims = [Claim(text="c", source="a", quote=quote)]

    assert find_quotation_places(claims, {"a": TEXT + TABLE}) == []


def test_a_source_that_is_no_material_has_no_place():
    claims = [Claim(text="c", source="https://example.org", quote="Huila")]

    assert find_quotation_places(claims, {"a": TEXT}) == []


def test_places_are_few_and_short():
    claims = [Claim(text="c", source="a", quote="middle")] * (MAX_PLACES + 1)

    places = find_quotation_places(claims, {"a": "x" * 999 + "middle" + "y" * 999})

    assert len(places) == MAX_PLACES
    assert len(places[0]["before"]) == len(places[0]["after"]) == CONTEXT_CHARS
