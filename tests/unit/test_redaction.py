"""Known secrets are found however they are spelled, and nothing else is touched."""

import base64
import json
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from graph.stores.serializer import RedactingSerializer, build_strict_serializer
from nodes.errors import EndpointFailed
from nodes.errors.redaction import (
    MASK,
    redact_bytes,
    redact_message,
    redact_text,
    redact_value,
    register_secrets,
)

CANARY = 'canary/9f"8e+7d=6c5b4a'
register_secrets([CANARY])


def spell_secret(before: str, after: str) -> list[str]:
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
    for text in spell_secret(before, after):
        assert redact_text(text) != text
        assert CANARY not in redact_text(text)


@given(st.text(alphabet="abcde \n0", max_size=200))
def test_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text
    assert redact_value({"a": [text, 1, None]}) == {"a": [text, 1, None]}


def test_values_inside_lists_and_mappings_are_masked() -> None:
    assert redact_value({"a": [CANARY, {"b": f"x{CANARY}"}], "n": 3}) == {
        "a": [MASK, {"b": f"x{MASK}"}],
        "n": 3,
    }


def test_a_model_s_answer_loses_the_secret_in_words_and_in_arguments() -> None:
    call = {"name": "Report", "args": {"output": f"key {CANARY}"}, "id": "1"}

    message = redact_message(AIMessage(f"It is {CANARY}", tool_calls=[call]))

    assert CANARY not in f"{message.content}{message.tool_calls}"
    assert message.tool_calls[0]["args"] == {"output": f"key {MASK}"}


@given(st.text(max_size=50))
def test_a_checkpoint_with_a_secret_can_be_read_back_without_it(text: str) -> None:
    serializer = build_strict_serializer()

    kind, data = serializer.dumps_typed({"request": f"{text}{CANARY}", "n": 7})

    assert isinstance(serializer, RedactingSerializer) and CANARY.encode() not in data
    read = serializer.loads_typed((kind, data))
    assert read["n"] == 7 and read["request"].endswith("*" * len(CANARY))


def test_data_keeps_its_length() -> None:
    data = b"\x00" + CANARY.encode() + b"\xff"

    assert len(redact_bytes(data)) == len(data) and CANARY.encode() not in redact_bytes(data)


def test_errors_never_carry_a_secret() -> None:
    error = EndpointFailed("it failed", cause=f"401 {CANARY}", next=f"use {CANARY}")

    assert CANARY not in f"{error}{error.format_line()}{error!r}"


def test_short_values_are_no_secrets() -> None:
    register_secrets(["abc"])

    assert redact_text("abc") == "abc"
