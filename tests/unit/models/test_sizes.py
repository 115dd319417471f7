"""Prompts and answers that are too long: shortened, limited, and without much memory."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from pydantic import BaseModel

from nodes.errors import ContextTooSmall
from nodes.models.catalog import ModelCatalog
from nodes.models.lengths import (
    MIN_CHARS,
    OPENAI_FACTOR,
    SHORTENED,
    UNKNOWN_SHARE,
    choose_output_limit,
    choose_share,
    shorten_messages,
)
from nodes.models.settings import DEFAULT_OUTPUT_TOKENS, ModelSettings, OutputPurpose
from nodes.models.structured_output import ask_model
from nodes.schemas.replies import Decision
from state import Answer, Plan, Report
from tests.endpoint import Endpoint, Fault, Scenario, script_tasks
from tests.endpoint.process import run_endpoint_process


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


TASKS = script_tasks({"a": ()})
LIMITS: Mapping[OutputPurpose, int] = {"plan": 111, "turn": 222, "report": 333, "answer": 444}


async def request_value(settings: ModelSettings, schema: type[BaseModel]) -> None:
    model = ModelCatalog(settings).get_chat_model("strong")
    await ask_model(model, schema, [HumanMessage("task: a")])


@pytest.mark.parametrize(
    ("schema", "limit"), [(Plan, 111), (Decision, 111), (Report, 333), (Answer, 444)]
)
async def test_the_limit_on_the_wire_is_that_of_the_purpose(
    endpoint: Endpoint, model_settings: ModelSettings, schema: type[BaseModel], limit: int
) -> None:
    endpoint.load_scenario(Scenario(tasks=TASKS))

    await request_value(replace(model_settings, max_output_tokens=LIMITS), schema)

    (call,) = endpoint.requests
    assert call.body["max_tokens"] == limit and "max_completion_tokens" not in call.body


async def test_an_answer_that_was_cut_is_asked_for_with_twice_the_limit(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(Fault(kind="length", nth=(1,)),)))

    await request_value(replace(model_settings, max_output_tokens=LIMITS, max_tries=2), Plan)

    assert [call.body["max_tokens"] for call in endpoint.requests] == [111, 222]


def test_openai_is_given_room_for_thoughts_where_no_limit_is_set() -> None:
    assert choose_output_limit({}, {}, "openai") == DEFAULT_OUTPUT_TOKENS * OPENAI_FACTOR
    assert choose_output_limit({}, {"turn": 9}, "openai") == 9


def test_openai_itself_knows_the_limit_by_its_newer_name() -> None:
    settings = ModelSettings(strong="openai:gpt-5", api_key="sk-test-0123456789abcdef")
    guarded = ModelCatalog(settings).get_chat_model("strong")

    sent = guarded.inner._build_body([HumanMessage("x")], max_tokens=7)  # type: ignore[attr-defined]

    assert sent["max_completion_tokens"] == 7 and "max_tokens" not in sent


ROOT = Path(__file__).parents[3]
MAX_GROWTH_KIB = 300_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="memory is told by Unix")
@pytest.mark.parametrize("kind", ["huge", "gzip_bomb"])
def test_h18_h19_a_body_of_300_mb_is_refused_before_it_is_in_memory(kind: str) -> None:
    fault = Fault(kind=kind, nth=(2,), size=300_000_000)  # type: ignore[arg-type]

    with run_endpoint_process(Scenario(faults=(fault,))) as served:
        child = subprocess.run(
            [sys.executable, "-m", "tests.unit.models.memory_child", served.base_url],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "LANGSMITH_TRACING": "false"},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )

    result = json.loads(child.stdout)
    assert result["code"] == "RESPONSE_TOO_LARGE"
    assert result["grown_kib"] < MAX_GROWTH_KIB
