"""Known secrets are found however they are spelled, and nothing else is touched."""

import base64
import json
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from graph.masking import MaskingSerializer
from graph.store import strict_serializer
from nodes.errors import EndpointFailed
from nodes.redaction import (
    MASK,
    keep_secret,
    redacted,
    redacted_bytes,
    redacted_message,
    redacted_value,
)

CANARY = 'canary/9f"8e+7d=6c5b4a'
keep_secret([CANARY])


def spelled(before: str, after: str) -> list[str]:
    """Spell the secret as a program might, between other text."""
    whole = f"{before}{CANARY}{after}"
    return [
        whole,
        quote(whole, safe=""),
        json.dumps(whole),
        base64.b64encode(whole.encode()).decode(),
        base64.urlsafe_b64encode(whole.encode()).decode(),
    ]


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_secret_is_found_in_every_spelling_and_at_every_offset(before: str, after: str) -> None:
    for text in spelled(before, after):
        assert redacted(text) != text
        assert CANARY not in redacted(text)


@given(st.text(alphabet="abcde \n0", max_size=200))
def test_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert redacted(text) == text
    assert redacted_value({"a": [text, 1, None]}) == {"a": [text, 1, None]}


def test_values_inside_lists_and_mappings_are_masked() -> None:
    assert redacted_value({"a": [CANARY, {"b": f"x{CANARY}"}], "n": 3}) == {
        "a": [MASK, {"b": f"x{MASK}"}],
        "n": 3,
    }


def test_a_model_s_answer_loses_the_secret_in_words_and_in_arguments() -> None:
    call = {"name": "Report", "args": {"output": f"key {CANARY}"}, "id": "1"}

    message = redacted_message(AIMessage(f"It is {CANARY}", tool_calls=[call]))

    assert CANARY not in f"{message.content}{message.tool_calls}"
    assert message.tool_calls[0]["args"] == {"output": f"key {MASK}"}


@given(st.text(max_size=50))
def test_a_checkpoint_with_a_secret_can_be_read_back_without_it(text: str) -> None:
    serializer = strict_serializer()

    kind, data = serializer.dumps_typed({"request": f"{text}{CANARY}", "n": 7})

    assert isinstance(serializer, MaskingSerializer) and CANARY.encode() not in data
    read = serializer.loads_typed((kind, data))
    assert read["n"] == 7 and read["request"].endswith("*" * len(CANARY))


def test_data_keeps_its_length() -> None:
    data = b"\x00" + CANARY.encode() + b"\xff"

    assert len(redacted_bytes(data)) == len(data) and CANARY.encode() not in redacted_bytes(data)


def test_errors_never_carry_a_secret() -> None:
    error = EndpointFailed("it failed", cause=f"401 {CANARY}", next=f"use {CANARY}")

    assert CANARY not in f"{error}{error.line()}{error!r}"


def test_short_values_are_no_secrets() -> None:
    keep_secret(["abc"])

    assert redacted("abc") == "abc"
