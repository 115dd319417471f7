"""Each request limits the tokens of its answer, by what the answer is for."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from langchain_core.messages import HumanMessage
from pydantic import BaseModel

from nodes.models.catalog import ModelCatalog
from nodes.models.lengths import DEFAULT_LIMITS, OPENAI_FACTOR, choose_output_limit
from nodes.models.settings import ModelSettings, OutputPurpose
from nodes.models.structured_output import ask_model
from nodes.schemas.replies import Decision
from state import Answer, Plan, Report
from tests.endpoint import Endpoint, Fault, Scenario, script_tasks

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
    assert choose_output_limit({}, {}, "openai") == DEFAULT_LIMITS["turn"] * OPENAI_FACTOR
    assert choose_output_limit({}, {"turn": 9}, "openai") == 9


def test_openai_itself_knows_the_limit_by_its_newer_name() -> None:
    settings = ModelSettings(strong="openai:gpt-5", api_key="sk-test-0123456789abcdef")
    guarded = ModelCatalog(settings).get_chat_model("strong")

    sent = guarded.inner._build_body([HumanMessage("x")], max_tokens=7)  # type: ignore[attr-defined]

    assert sent["max_completion_tokens"] == 7 and "max_tokens" not in sent
