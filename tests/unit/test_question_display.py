"""How a question to approve a call is shown."""

from typing import Any

from graph.display.summary import format_question


def show_call(**args: Any) -> str:
    question = {"kind": "tool_call", "task": "a", "worker": "clerk", "tool": "mcp:s/post"}
    return format_question({**question, "call_args": args})[0]


def test_a_long_argument_hides_no_other_and_says_how_much_is_left_out() -> None:
    line = show_call(note="x" * 100_000, recipient="eve@evil.example", rows=list(range(1_000)))

    assert '"recipient": "eve@evil.example"' in line
    assert "… and 99,334 characters more" in line
    assert len(line) < 3_000


def test_short_arguments_are_shown_as_they_are() -> None:
    assert show_call(n=3, text="hi") == 'a clerk wants to call mcp:s/post {"n": 3, "text": "hi"}'


def test_an_argument_cannot_hide_itself_by_control_characters() -> None:
    assert "\x1b" not in show_call(text="\x1b[2Khidden\u202e") and "hidden" in show_call(t="hidden")
