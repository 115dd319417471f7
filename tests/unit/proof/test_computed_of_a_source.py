"""A claim that names the table of a computation is proved by what was computed of that table."""

import json
from typing import Any

import pytest

from nodes.proof.claims import check_claim
from nodes.proof.texts import Evidence
from state import Claim

FERRIES = "route,month,cars\nNorth,2026-05,120\nSouth,2026-05,80\nNorth,2026-06,130\n"


def compute(tool: str = "analyze_table", source: str = "ferries.csv") -> Evidence:
    evidence = Evidence("How many cars were there in total?")
    evidence.add_material("ferries.csv", FERRIES)
    evidence.add_material("notes.csv", "route,note\nNorth,calm\n")
    result: dict[str, Any] = {
        "summary": f"Sum of cars: **34,820**.\n\nFrom {source}: columns `cars`; 3 of 3 rows used.",
        "columns": ["sum of cars"],
        "rows": [[34820]],
        "results": [{"source": source, "text": "sum of cars: 34820"}],
    }
    evidence.add_result(tool, {"question": "total cars"}, json.dumps(result))
    return evidence


@pytest.mark.parametrize(
    "text", ["The sum of cars is 34,820", "34,820 cars in total", "Total cars: 34,820."]
)
def test_a_computed_figure_is_proved_under_the_name_of_its_table(text: str) -> None:
    check = check_claim(Claim(text=text, source="ferries.csv"), compute())

    assert check.proof == "computed"
    assert not check.doubt


@pytest.mark.parametrize(
    "text",
    [
        "The sum of cars is 34,821",
        "North had 34,820 cars",
        "There were 34,820 cars in June 2026",
        "The revenue was 34,820 EUR",
    ],
)
def test_another_figure_or_one_of_other_things_is_not(text: str) -> None:
    check = check_claim(Claim(text=text, source="ferries.csv"), compute())

    assert check.proof == "unproved"
    assert "ferries.csv" in check.doubt


@pytest.mark.parametrize(
    ("tool", "source", "cited"),
    [
        ("analyze_table", "ferries.csv", "notes.csv"),
        ("analyze_table", "notes.csv", "ferries.csv"),
        ("my_own_tool", "ferries.csv", "ferries.csv"),
    ],
)
def test_what_was_computed_of_another_table_or_by_no_computing_tool_proves_nothing(
    tool: str, source: str, cited: str
) -> None:
    claim = Claim(text="The sum of cars is 34,820", source=cited)

    assert check_claim(claim, compute(tool, source)).proof == "unproved"
