"""Arguments come from a tool's schema and the words of the task, whatever the tool."""

from typing import Annotated, Any, Literal

import pytest
from langchain_core.tools import BaseTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from nodes.models.embedded.prompt_reading import ReceivedHandoff
from nodes.models.embedded.tool_calls import choose_calls, fill_arguments
from nodes.tools.analyze_table import analyze_table
from nodes.tools.framework.argument_types import Day, FileName, Identifier, Text
from nodes.tools.framework.settings import ToolSettings

SHEEP = "farm,county,year,sheep,wool_kg\nAsh Hill,Kent,2021,40,120\nLow Moor,Devon,2021,75,210\n"


@tool
def order_boats(
    material: Annotated[FileName, Field(description="The list of boats")] = "",
    day: Annotated[Day, Field(description="When they are needed")] = "",
    kind: Annotated[Literal["sail", "motor", ""], Field(description="Of boat")] = "",
    deposit_amount: Annotated[float | None, Field(description="Paid in advance", ge=0)] = None,
    price_amount: Annotated[float | None, Field(description="Of one boat", ge=0)] = None,
    max_share_percent: Annotated[float | None, Field(description="Share of oars")] = None,
    hours_per_week: Annotated[int | None, Field(description="Use of the boats")] = None,
    crew_percent: Annotated[dict[str, float] | None, Field(description="By name")] = None,
    parts: Annotated[list[Identifier] | None, Field(description="Names in the code")] = None,
    insured: Annotated[bool, Field(description="With insurance")] = False,
) -> str:
    """Order boats."""
    return ""


def fill(intent: str, offered: BaseTool = order_boats, **artifacts: str) -> dict[str, Any] | None:
    schema = convert_to_openai_tool(offered)["function"]["parameters"]
    named = {name.replace("__", "."): text for name, text in artifacts.items()}
    return fill_arguments(ReceivedHandoff(intent, artifacts=named), schema)


@tool
def read_letter(letter: Text) -> str:
    """Read a letter."""
    return ""


def test_the_requests_own_words_are_taken_whole_with_the_names_and_quotations_in_them():
    letter = 'Our boats of May are gone.\nThe log of Oslo says "sunk".'

    assert fill(letter, read_letter) == {"letter": letter}


@pytest.mark.parametrize(
    ("intent", "arguments"),
    [
        ("Order some boats", {}),
        ("A motor boat, please", {"kind": "motor"}),
        ("Boats at a price of 1,250.50 EUR", {"price_amount": 1250.5}),
        (
            "Boats at a price of 9 USD, after a deposit of $2",
            {"price_amount": 9.0, "deposit_amount": 2.0},
        ),
        ("Boats with a share of oars of at most 30 %", {"max_share_percent": 30.0}),
        ("Boats that are in use 6 hours a week", {"hours_per_week": 6}),
        ("Boats for 60% Ada and 40% Bo", {"crew_percent": {"Ada": 60.0, "Bo": 40.0}}),
        ("Boats for 3 May 2026", {"day": "2026-05-03"}),
        ("Insured boats", {"insured": True}),
        ("What does `hull_of` do with openKeel()?", {"parts": ["hull_of", "openKeel"]}),
    ],
)
def test_an_argument_is_filled_where_the_task_gives_it_and_else_left_out(intent, arguments):
    assert fill(intent) == arguments


def test_a_number_of_another_thing_is_not_taken():
    assert fill("Boats for 12 people with 3 masts, 40 % off") == {}


def test_a_file_is_named_by_its_own_name():
    assert fill("Read boats.csv", a__csv="x", boats__csv="y") == {"material": "boats.csv"}


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        (
            "Which county has the most sheep?",
            {"measures": ["sheep"], "group_by": "county", "order": "highest"},
        ),
        (
            "How many kg of wool came from Ash Hill?",
            {"measures": ["wool_kg"], "rows_with": ["ash hill"]},
        ),
        (
            "Average wool by county",
            {"measures": ["wool_kg"], "aggregate": "average", "group_by": "county"},
        ),
        ("Wool per sheep, top 2", {"divide_by": "sheep", "limit": 2, "order": "highest"}),
    ],
)
def test_columns_and_cells_are_those_that_the_task_names(question, arguments):
    filled = fill(question, analyze_table(ToolSettings()), farms__csv=SHEEP)

    assert filled is not None and arguments.items() <= filled.items()


FOR = 'For the request "{}": orders boats and keeps the list of the fleet. Give every figure.'


@pytest.mark.parametrize(
    ("request_text", "materials", "is_called"),
    [
        ("Bake a cake", {}, False),
        ("Enlarge the fleet", {}, True),
        ("Bake a cake", {"fleet.txt": "Ada, Bo"}, True),
    ],
)
def test_a_request_without_materials_that_names_nothing_of_the_worker_is_not_for_its_tools(
    request_text, materials, is_called
):
    schema = convert_to_openai_tool(order_boats)["function"]["parameters"]
    brief = ReceivedHandoff(FOR.format(request_text), artifacts=materials)

    assert bool(choose_calls(brief, {"order_boats": schema})) == is_called
