"""How an endpoint is asked for a structure: the schema that it is shown, and what it may refuse."""

from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from langchain_core.messages import HumanMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from nodes.errors import RequestRefused
from nodes.models.catalog import ModelCatalog
from nodes.models.request_form import NO_ARGUMENTS, ToolOffer, build_request, simplify_tool
from nodes.models.settings import ModelSettings, TierSettings
from nodes.models.structured_output import ModelReply, ask_model
from nodes.schemas import replies
from nodes.tools.framework.settings import ToolSettings
from state import Answer, Plan, Report
from supervisor_worker.testing.endpoint.faces import find_refusal
from supervisor_worker.testing.endpoint.scripted_model import ModelReply as Said
from supervisor_worker.testing.endpoint.wire import build_completion, estimate_usage
from tests.shipped_tools import list_all_tools, load_shipped_tools

ANSWER = {"text": "42 euros.", "confidence": 90}


class ScriptedServer:
    """Answers each request with the next reply: a status with a body, or words of a model."""

    def __init__(self, *replies: tuple[int, dict[str, Any]] | Said) -> None:
        self.replies, self.bodies = list(replies), list[dict[str, Any]]()

    async def respond(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        reply = self.replies.pop(0)
        if isinstance(reply, Said):
            usage = estimate_usage(reply, 100)
            finish = "tool_calls" if reply.name else "stop"
            return web.json_response(
                build_completion(reply, body, len(self.bodies), finish=finish, usage=usage)
            )
        status, content = reply
        return web.json_response(content, status=status)


async def ask(server: ScriptedServer, **parameters: Any) -> ModelReply[Answer]:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.respond)
    async with TestServer(app) as served:
        settings = ModelSettings(
            fast="openai:some-model",
            base_url=str(served.make_url("/v1")),
            api_key="sk-test-0123456789",
            tiers={"fast": TierSettings(parameters=parameters)},
            max_tries=1,
        )
        return await ask_model(ModelCatalog(settings).get_chat_model("fast"), Answer, [])


def refuse(message: str, **more: Any) -> tuple[int, dict[str, Any]]:
    return 400, {"error": {"message": message, "type": "invalid_request_error", **more}}


async def test_what_a_model_wrote_is_read_from_a_refusal_that_quotes_it() -> None:
    server = ScriptedServer(
        refuse(
            "Failed to call a function.",
            code="tool_use_failed",
            failed_generation='<function=Answer>{"text": "42 euros.", "confidence": 90}</function>',
        )
    )

    reply = await ask(server)

    assert reply.value == Answer(**ANSWER)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("name", ["temperature", "seed"])
async def test_a_parameter_that_is_refused_by_name_is_left_out_from_then_on(name: str) -> None:
    server = ScriptedServer(
        refuse(f"Unsupported parameter: '{name}' is not supported with this model."),
        Said(content=ANSWER),
    )

    reply = await ask(server, **{name: 1})

    first, second = server.bodies
    assert first[name] == 1 and name not in second
    assert reply.value.text == "42 euros."


async def test_a_reply_in_words_is_asked_for_in_the_next_way_and_both_are_billed() -> None:
    server = ScriptedServer(Said(content="I would rather talk."), Said("Answer", ANSWER))

    reply = await ask(server)

    assert "response_format" in server.bodies[0]
    assert server.bodies[1]["tool_choice"] == "required"
    assert (
        reply.usage.output_tokens > estimate_usage(Said("Answer", ANSWER), 0)["completion_tokens"]
    )


async def test_a_refusal_for_another_reason_is_not_tried_in_another_way() -> None:
    server = ScriptedServer(refuse("Your organization must be verified."))

    with pytest.raises(RequestRefused, match="verified"):
        await ask(server)

    assert len(server.bodies) == 1


def test_the_prompt_of_a_last_turn_begins_as_those_before_it() -> None:
    def make_tool(name: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        return {"type": "function", "function": {"name": name, "parameters": schema}}

    settings = ModelSettings(fast="openai:m", base_url="http://127.0.0.1:9/v1")
    inner = ModelCatalog(settings).get_chat_model("fast").inner  # type: ignore[attr-defined]
    find, report = make_tool("find"), make_tool("Report")
    said = [HumanMessage("task: a")]

    turn, _ = build_request("json_schema", ToolOffer([find, report], "any"), said, inner)
    last, asked = build_request("json_schema", ToolOffer([report], "any", [find]), said, inner)

    assert last[0] == turn[0] and last[1].text.startswith(turn[1].text)
    schema = asked["response_format"]["json_schema"]["schema"]
    assert [each["properties"]["name"]["const"] for each in schema["anyOf"]] == ["Report"]


SCHEMAS = [Plan, Report, Answer] + [
    found
    for found in vars(replies).values()
    if isinstance(found, type) and issubclass(found, BaseModel) and found.model_fields
]


def show(source: Any) -> dict[str, Any]:
    return simplify_tool(convert_to_openai_tool(source))


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.__name__)
def test_a_grammar_can_be_made_of_each_schema(schema: type[BaseModel]) -> None:
    assert not find_refusal(("grammar_400",), {"tools": [show(schema)]})


def test_a_grammar_can_be_made_of_each_tool() -> None:
    tools = [show(tool) for tool in load_shipped_tools(list_all_tools(), ToolSettings())]

    assert not find_refusal(("grammar_400",), {"tools": tools})


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.__name__)
def test_each_shown_key_is_one_of_the_schema_and_all_required_keys_are_shown(
    schema: type[BaseModel],
) -> None:
    shown = show(schema)["function"]["parameters"]
    required = {name for name, field in schema.model_fields.items() if field.is_required()}

    assert set(shown["properties"]) <= set(schema.model_fields)
    assert required == set(shown.get("required", ()))


def test_a_tool_without_arguments_is_shown_with_one_that_is_not_passed_on() -> None:
    def list_files() -> str:
        """List the files."""
        return ""

    assert show(list_files)["function"]["parameters"] == NO_ARGUMENTS
