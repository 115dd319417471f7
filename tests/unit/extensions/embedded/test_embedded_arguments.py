"""Arguments come from a tool's schema and the words of the task, whatever the tool."""

from dataclasses import replace
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import BaseTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from extensions.embedded.quantities import list_numbers
from extensions.embedded.tool_calls import choose_calls, list_uncalled
from extensions.embedded.work import AnsweredCall
from nodes.tools.framework.argument_types import Day, FileName, Identifier
from tests.unit.extensions.embedded.embedded_runs import make_work


def read_schema(offered: BaseTool) -> dict[str, Any]:
    return dict(convert_to_openai_tool(offered)["function"]["parameters"])


def fill(offered: BaseTool, words: str, *files: str) -> dict[str, Any] | None:
    calls = choose_calls(
        make_work(words, artifacts=dict.fromkeys(files, "x")), {offered.name: read_schema(offered)}
    )
    return calls[0][1] if calls else None


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


@tool
def show_weather(city: str) -> str:
    """Show the weather."""
    return ""


@tool
def rent_car(days: int, price_eur: float, seats: int = 4) -> float:
    """Rent a car."""
    return 0.0


@tool
def compute_margin(
    unit_cost_amount: float | None = None, fixed_cost_amount: float | None = None
) -> str:
    """Compute a margin."""
    return ""


@tool
def list_trades(
    min_trade_amount: float | None = None, max_turnover_percent: float | None = None
) -> str:
    """List trades."""
    return ""


@tool
def save(
    kind: Annotated[Literal["md", "docx"], Field(description="md or docx (Word)")] = "md",
) -> str:
    """Save a text."""
    return ""


@pytest.mark.parametrize(
    ("offered", "words", "arguments"),
    [
        (order_boats, "A motor boat, please", {"kind": "motor"}),
        (order_boats, "Boats at a price of 1,250.50 EUR", {"price_amount": 1250.5}),
        (
            order_boats,
            "Boats at a price of 9 USD, after a deposit of $2",
            {"price_amount": 9.0, "deposit_amount": 2.0},
        ),
        (order_boats, "Boats with a share of oars of at most 30 %", {"max_share_percent": 30.0}),
        (order_boats, "Boats that are in use 6 hours a week", {"hours_per_week": 6}),
        (order_boats, "Boats for 2026-05-03", {"day": "2026-05-03"}),
        (order_boats, "Insured boats", {"insured": True}),
        (order_boats, "Boats that are not insured", {}),
        (
            order_boats,
            "What does `hull_of` do with openKeel()?",
            {"parts": ["hull_of", "openKeel"]},
        ),
        (order_boats, "Boats with 3 masts, 40 % off", {}),
        (order_boats, "Read fleet.csv", {"material": "fleet.csv"}),
        (rent_car, "A car for 3 days at a price of 90 EUR", {"days": 3, "price_eur": 90.0}),
        (
            rent_car,
            "A car with 7 seats: 3 days, price 90 EUR",
            {"days": 3, "price_eur": 90.0, "seats": 7},
        ),
        (rent_car, "A car for 3 days at a price of 90 USD", None),
        (rent_car, "A car for 3 days at a price of 90.000 EUR", None),
        (rent_car, "A car for 3 to 5 days at a price of 90 EUR", None),
        (rent_car, "A car for minus 3 days at a price of 90 EUR", None),
        (rent_car, "A car for 3 days, price 90 miles", None),
        (rent_car, "A car for 3 days with a discount of 90 EUR", None),
        (rent_car, "A car, 3 days old, at a price of 90 EUR", None),
        (rent_car, "A car for 3 days at a price of 90 EUR per hour", None),
        (rent_car, "A car with 5 seats or 7 seats for 3 days at a price of 90 EUR", None),
        (
            compute_margin,
            "The unit cost of 20 EUR and fixed costs of 24,000 EUR",
            {"unit_cost_amount": 20, "fixed_cost_amount": 24_000},
        ),
        (compute_margin, "costs of 20 EUR", None),
        (
            list_trades,
            "No trade below 250 EUR, a turnover of at most 20 %",
            {"min_trade_amount": 250, "max_turnover_percent": 20},
        ),
        (list_trades, "Trades of at most 250 EUR, a turnover above 20 %", {}),
        (list_trades, "No trade of more than 250 EUR, Umsatz: turnover mindestens 20 %", {}),
        (save, "Save it as a Word document", {"kind": "docx"}),
        (save, "Save at most 90 words", {}),
        (show_weather, "How warm is it in San Marino?", {"city": "San Marino"}),
        (show_weather, 'How warm is it in "old town", Rome?', {"city": "old town"}),
        (show_weather, "How warm is it in Rome or Oslo?", None),
        (show_weather, "How warm is it?", None),
    ],
)
def test_an_argument_is_filled_where_the_words_give_it_and_else_left_out(offered, words, arguments):
    """A tool whose required argument is missing is not called: None."""
    assert fill(offered, words, "a.csv", "fleet.csv") == arguments


def test_a_number_that_no_call_took_is_named():
    work = make_work("Order boats with no price below 2,000 EUR for 3 seasons")
    called = AnsweredCall("order_boats", {"price_amount": 2000.0}, "ok")
    tools = {"order_boats": read_schema(order_boats)}

    assert list_uncalled(replace(work, calls=(called,)), tools) == [
        "order_boats was called without 3: that needs a language model"
    ]


def test_a_gap_names_the_argument_that_is_missing_and_its_answer_fills_it():
    tools = {"rent_car": read_schema(rent_car)}
    words = "Rent a car for 3 days"

    (gap,) = list_uncalled(make_work(words), tools)
    calls = choose_calls(make_work(words, answers={gap: "90"}), tools)

    assert gap == (
        "rent_car was not called: without a language model its argument price_eur (number) "
        "cannot be filled from the words"
    )
    assert calls == [("rent_car", {"days": 3, "price_eur": 90.0})]


def test_an_answer_becomes_the_words_to_search_for():
    tools = {
        "search_documents": {"properties": {"query": {"type": "string"}}, "required": ["query"]}
    }

    work = make_work("Which roof is best?", answers={"What is missing?": "tiles of slate"})

    assert choose_calls(work, tools) == [("search_documents", {"query": "tiles slate"})]


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("The lock fees", "What is the sum: The lock fees"),
        ("What is the sum of the lock fees?", "What is the sum of the lock fees?"),
    ],
)
def test_a_table_is_asked_with_the_request_and_the_answer(answer: str, question: str):
    tools = {"analyze_table": {"properties": {"question": {"type": "string"}}}}

    work = make_work("What is the sum?", answers={"Of what?": answer})

    assert choose_calls(work, tools) == [("analyze_table", {"question": question})]


_names = st.from_regex(r"[a-z]{1,9}(_(percent|eur|amount|s|per_week|years))?", fullmatch=True)
_types = st.fixed_dictionaries(
    {"type": st.sampled_from(["number", "integer", "string", "boolean", "array", "object"])},
    optional={
        "description": st.text(max_size=40),
        "format": st.sampled_from(["date", "file", "identifier", "query", "text"]),
        "enum": st.lists(st.text(max_size=8), max_size=4),
        "default": st.none(),
    },
)
_figures = st.one_of(st.integers(-9999, 10**7), st.floats(0, 1e4).map(lambda x: round(x, 2)))
_words = st.lists(
    st.one_of(st.text(max_size=9), _names, _figures.map(str), st.sampled_from(["%", "EUR", "of"])),
    max_size=14,
).map(" ".join)


@given(st.dictionaries(_names, _types, max_size=6), st.data(), _words)
def test_no_schema_and_no_words_raise_or_make_up_a_number(parameters, data, words):
    required = data.draw(st.lists(st.sampled_from(sorted(parameters) or ["none"]), unique=True))
    tools = {"own": {"properties": parameters, "required": required}}
    stated = {number.value for number in list_numbers(words)}

    calls = choose_calls(make_work(words), tools)

    taken = [v for _, filled in calls for v in filled.values() if type(v) in (int, float)]
    assert all(value in stated for value in taken)
    assert all(set(required) <= filled.keys() | {"none"} for _, filled in calls)
    assert list_uncalled(make_work(words), tools) is not None
