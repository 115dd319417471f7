"""A tool call that a worker makes again is answered without the tool."""

from langchain_core.messages import ToolMessage

from nodes.execution.attempt_context import MAX_CHARS_AGAIN, EarlierCalls

CALL = {"name": "look_up", "args": {"query": "NIST"}}


def make_calls(content: str, status: str = "success") -> EarlierCalls:
    earlier = EarlierCalls()
    earlier.record(CALL, ToolMessage(content, tool_call_id="1", status=status))
    return earlier


def test_a_short_result_is_given_again_and_a_long_one_is_pointed_to():
    assert make_calls("no periodic changes").find(CALL) == ("no periodic changes", False)

    said, was_refused = make_calls("x" * (MAX_CHARS_AGAIN + 1)).find(CALL) or ("", True)
    assert said.startswith("You made this call before") and "xx" not in said and not was_refused


def test_a_refusal_is_repeated_and_says_that_it_will_not_change():
    said, was_refused = make_calls("give a query", "error").find(CALL) or ("", False)

    assert was_refused and said.endswith("\n\ngive a query") and "will not change" in said


def test_after_two_repeated_calls_only_a_report_is_left_and_other_calls_do_not_count():
    earlier = make_calls("a")

    assert earlier.find({"name": "look_up", "args": {"query": "BSI"}}) is None
    assert earlier.find(CALL) and not earlier.must_report
    assert earlier.find(CALL) and earlier.must_report
