"""What failed and refused tool calls leave open."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.execution.tool_outcomes import CallEnding, ToolOutcomes, read_failures

MATERIALS = {"a.txt": "", "in/b.txt": ""}
MadeCall = tuple[str, CallEnding, dict[str, Any]]
"""Tool, how it ended, and its arguments."""
FAIL: CallEnding = "failed"
DONE: CallEnding = "answered"
NO: CallEnding = "refused"


def collect_outcomes(*turns: list[MadeCall]) -> ToolOutcomes:
    kept = ToolOutcomes()
    for turn, calls in enumerate(turns, start=1):
        for name, ending, args in calls:
            reasons = () if ending == "answered" else (f"{name} {ending} {args}",)
            call = {"name": name, "args": args}
            kept.record_call(call, ending, turn=turn, materials=MATERIALS, reasons=reasons)
    return kept


@pytest.mark.parametrize(
    ("turns", "is_open"),
    [
        ([[("look", FAIL, {})]], True),
        ([[("look", FAIL, {})], [("look", DONE, {})]], False),
        ([[("look", FAIL, {"q": "x"})], [("look", DONE, {"q": "y"})]], False),
        ([[("look", DONE, {})], [("look", FAIL, {})]], True),
        ([[("look", FAIL, {}), ("look", DONE, {})]], True),
        ([[("look", FAIL, {})], [("other", DONE, {})]], True),
        ([[("look", FAIL, {})], [("look", NO, {})]], True),
        ([[("look", FAIL, {"m": "a.txt"})], [("look", DONE, {"m": "a.txt"})]], False),
        ([[("look", FAIL, {"m": "a.txt"})], [("look", DONE, {"m": "b.txt"})]], True),
        ([[("look", FAIL, {"m": "b.txt"})], [("look", DONE, {"m": "in/b.txt"})]], False),
        ([[("look", FAIL, {})], [("look", DONE, {"m": "a.txt"})]], True),
        (
            [
                [("look", FAIL, {})],
                [("look", DONE, {"m": "a.txt"}), ("look", DONE, {"m": "b.txt"})],
            ],
            False,
        ),
        (
            [[("look", FAIL, {"claims": [{"source": "a.txt"}]})], [("look", DONE, {"m": "b.txt"})]],
            True,
        ),
    ],
)
def test_a_failure_is_open_until_a_later_turn_has_done_what_it_was_for(turns, is_open):
    assert bool(collect_outcomes(*turns).list_failures()) is is_open


def test_a_refusal_is_open_only_where_nothing_was_answered_and_only_the_last_of_a_tool():
    refused = collect_outcomes([("look", NO, {"n": 1}), ("read", NO, {})], [("look", NO, {"n": 2})])
    answered = collect_outcomes([("look", NO, {})], [("read", DONE, {})])

    assert refused.list_refusals() == ("look: look refused {'n': 2}", "read: read refused {}")
    assert refused.list_failures() == ()
    assert answered.list_refusals() == ()


def test_a_file_is_lacking_where_there_was_nothing_to_read_and_no_call_was_answered():
    kept = ToolOutcomes()
    call = {"name": "look", "args": {}}
    kept.record_call(call, "refused", turn=1, materials={}, lacks_file=True)
    kept.record_call(call, "failed", turn=1, materials={})

    assert kept.lacks_file
    kept.record_call({"name": "other", "args": {}}, "answered", turn=2, materials={})
    assert not kept.lacks_file


def test_advice_to_the_worker_is_left_out_of_what_the_user_reads():
    kept = ToolOutcomes()
    reason = "look failed: nobody answers; use another tool, or report what is missing"

    kept.record_call(
        {"name": "look", "args": {}}, "failed", turn=1, materials={}, reasons=(reason,)
    )

    assert kept.list_failures() == ("look failed: nobody answers",)


@given(st.text() | st.text().map(lambda text: '{"failures": ' + text))
def test_any_answer_can_be_read_for_failures(answer):
    assert isinstance(read_failures(answer), tuple)


def test_failures_are_read_from_an_object_alone():
    assert read_failures('{"summary": "x", "failures": ["a", "b"]}') == ("a", "b")
    assert read_failures('["failures"]') == read_failures('{"failures": "a"}') == ()
