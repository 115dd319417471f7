"""What a task has read, and what its tools may still send outside."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.errors import ToolRefused
from nodes.known import addresses, bare, said_again
from nodes.taint import OutsideClosed, Taint
from nodes.tools.access import LOCAL, UNKNOWN, Access, shipped
from state import Mark

SAID = "Compare AWS and Azure: revenue growth in 2024, companies by share. See https://a.example/r."
WEB, FETCH = shipped("web_search"), shipped("fetch_page")


def taint(*marks: Mark, **fields: Any) -> Taint:
    return Taint(**{"known": SAID, "said": SAID, "marks": frozenset(marks), **fields})


def found(*urls: str) -> str:
    return json.dumps(
        {"results": [{"source": url, "text": "https://snippet.example"} for url in urls]}
    )


def test_a_search_is_free_before_private_data_and_keeps_to_known_words_after_it() -> None:
    free, closed = taint("untrusted"), taint("private")

    assert free.admit("web_search", WEB, {"query": "Oracle cloud"}) == {"query": "Oracle cloud"}
    with pytest.raises(OutsideClosed, match="Not among them: Oracle"):
        closed.admit("web_search", WEB, {"query": "Oracle cloud revenue"})
    kept = closed.admit(
        "web_search", WEB, {"query": "growth of the revenue of AWS", "max_results": 5}
    )
    assert kept == {"query": "AWS revenue growth", "max_results": 5}


@pytest.mark.parametrize(
    "query",
    ["4711", "revenue 4711", "2 0 2 4", "cmV2ZW51ZQ", "site:evil.example", "Azzure", "\u0430ws"],
)
def test_a_word_that_was_not_known_is_refused(query: str) -> None:
    with pytest.raises(ToolRefused):
        said_again(query, SAID)


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("azure AWS azure AWS", "AWS azure"),
        ('"company" shares', "company shares"),
        ("which of the most", ""),
        ("2024 growth", "growth 2024"),
    ],
)
def test_known_words_go_out_once_each_and_in_their_known_order(query: str, sent: str) -> None:
    assert said_again(query, SAID) == sent


def test_words_of_a_script_without_spaces_are_known_within_others() -> None:
    assert said_again("\u5e02\u5834", "\u96f2\u7aef\u5e02\u5834\u5206\u6790") == "\u5e02\u5834"


@given(st.text(max_size=60), st.text(max_size=60))
def test_nothing_goes_out_that_was_not_known(query: str, known: str) -> None:
    try:
        sent = said_again(query, known)
    except ToolRefused:
        return
    assert len(sent.split()) <= len(known)


def test_only_addresses_of_the_request_and_of_searches_are_fetched() -> None:
    one = taint()
    one.note("web_search", WEB, found("https://b.example/x?q=1"))

    for url in ("https://a.example/r", "https://b.example/x?q=1", "https://b.example/x?q=1#part"):
        assert one.admit("fetch_page", FETCH, {"url": url}) == {"url": url}
    for url in (
        *("https://evil.example", "https://a.example/r?d=4711", "https://b.example/x?q=12"),
        *("https://snippet.example", "https://a.exampl", "https://a.example.evil.example/r", ""),
    ):
        with pytest.raises(OutsideClosed, match="search for the page first"):
            one.admit("fetch_page", FETCH, {"url": url})


@pytest.mark.parametrize(
    "said",
    [
        "Read https://a.example/r_(x)?y=1.",
        "(https://a.example/r_(x)?y=1)",
        "[here](https://a.example/r_(x)?y=1), please",
        "<https://a.example/r_(x)?y=1>",
        "a.example/r_(x)?y=1!",
    ],
)
def test_an_address_is_found_however_it_stands_in_prose(said: str) -> None:
    assert bare("https://a.example/r_(x)?y=1") in addresses(said)


def test_what_is_read_in_a_turn_binds_the_next_one() -> None:
    one = taint()
    one.note("search_documents", LOCAL, found("notes.md"))

    assert one.admit("web_search", WEB, {"query": "Oracle"})
    one.settle()
    with pytest.raises(OutsideClosed):
        one.admit("web_search", WEB, {"query": "Oracle"})
    assert one.marks == {"private", "untrusted"}


def test_a_search_of_documents_that_finds_nothing_has_read_nothing() -> None:
    one = taint()
    one.note("search_documents", LOCAL, json.dumps({"results": [], "note": "none"}))
    one.settle()

    assert not one.marks and one.admit("web_search", WEB, {"query": "Oracle"})


def test_a_tool_that_declares_nothing_gets_no_data_but_its_own() -> None:
    own, handed = taint(), taint("private")
    own.note("stock", UNKNOWN, "40")
    own.settle()

    assert own.admit("stock", UNKNOWN, {"coffee": "Huila"}) == {"coffee": "Huila"}
    with pytest.raises(OutsideClosed):
        own.admit("mail", UNKNOWN, {"text": "40"})
    with pytest.raises(OutsideClosed):
        handed.admit("stock", UNKNOWN, {"coffee": "Huila"})


@pytest.mark.parametrize("value", [4711, 0.5, ["x"], {"x": "y"}])
def test_only_texts_and_small_numbers_go_outside_after_private_data(value: Any) -> None:
    with pytest.raises(OutsideClosed, match="a number up to 100"):
        taint("private").admit("web_search", WEB, {"query": "AWS", "page": value})


def test_a_tool_that_sends_nothing_may_always_be_called() -> None:
    nothing = Access(frozenset())

    assert taint("private").admit("calculate", nothing, {"expression": "4711"})
