"""A prompt that is too long for a model's context window is shortened in its longest parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

from nodes.errors import ContextTooSmall
from nodes.models.catalog import ModelCatalog
from nodes.models.lengths import (
    MIN_CHARS,
    SHORTENED,
    UNKNOWN_SHARE,
    choose_share,
    shorten_messages,
)
from nodes.models.settings import ModelSettings
from nodes.models.structured_output import ask_model
from state import Answer
from tests.endpoint import Endpoint, Fault, Scenario


def test_the_longest_texts_are_cut_to_one_length_and_the_system_message_stays() -> None:
    system, short = SystemMessage("s" * 3_000), HumanMessage("q" * 500)
    long = [ToolMessage("z" * size, tool_call_id="1") for size in (8_000, 20_000)]

    shortened, left_out = shorten_messages([system, short, *long], 0.4)

    assert shortened[:2] == [system, short]
    assert [text.count("z") for text in (str(m.content) for m in shortened[2:])] == [4_550, 4_550]
    assert left_out == 28_000 - 2 * 4_550


def test_the_beginning_and_the_end_of_a_text_are_kept() -> None:
    text = "begin " + "x" * 5_000 + " end"

    (message,), left_out = shorten_messages([HumanMessage(text)], 0.3)

    assert str(message.content).startswith("begin ")
    assert str(message.content).endswith(" end")
    assert f"[{left_out:,} characters were left out here]" in message.content


@given(st.lists(st.integers(0, 30_000), max_size=6), st.floats(0.05, 0.95))
def test_what_is_left_fits_unless_texts_are_at_their_least(sizes: list[int], share: float) -> None:
    messages = [HumanMessage("x" * size) for size in sizes]

    shortened, left_out = shorten_messages(messages, share)

    kept = [str(message.content).count("x") for message in shortened]
    assert sum(sizes) - sum(kept) - left_out <= 0
    assert sum(kept) <= sum(sizes) * share or all(size <= MIN_CHARS for size in kept)


def test_the_share_follows_the_numbers_of_the_endpoint_where_it_names_them() -> None:
    assert choose_share(ContextTooSmall("m", needed=20_000, limit=8_000)) == pytest.approx(0.34)
    assert choose_share(ContextTooSmall("m")) == UNKNOWN_SHARE


async def test_a_call_that_is_too_long_is_made_again_with_less_and_says_so(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind="context_length", nth=(1,)),)))
    model = ModelCatalog(model_settings).get_chat_model("strong")

    reply = await ask_model(model, Answer, [HumanMessage("x" * 9_000)])

    first, second = endpoint.requests
    assert second.body_bytes < first.body_bytes
    assert (
        "characters were left out: they did not fit" in (reply.message.response_metadata[SHORTENED])
    )


async def test_a_short_call_that_is_too_long_is_refused_with_its_reason(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind="context_length"),)))
    model = ModelCatalog(model_settings).get_chat_model("strong")

    with pytest.raises(ContextTooSmall, match="8,192"):
        await ask_model(model, Answer, [HumanMessage("short")])

    assert len(endpoint.requests) == 1
