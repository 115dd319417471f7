"""An address that is no model server, or lacks the model, ends in one line with what to do."""

import asyncio
import json
from typing import Any

import pytest

from graph.commands.doctor_probe import TierEndpoint, fetch_models
from nodes.errors import (
    BadResponse,
    ContextTooSmall,
    ModelUnknown,
    RequestRefused,
    SupervisorError,
)
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings, TierSettings
from tests.unit.models.one_reply_server import run_server


async def call_server(**reply: Any) -> SupervisorError:
    """Return the error of a call to a server with this reply."""
    async with run_server(**reply) as server:
        settings = ModelSettings(
            fast="openai:qwen3-4b",
            base_url=server.base_url,
            api_key="sk-test-0123456789abcdef",
            max_tries=1,
            call_timeout_s=10.0,
        )
        with pytest.raises(SupervisorError) as raised:
            await ModelCatalog(settings).get_chat_model("fast").ainvoke("Is it so?")
    return raised.value


def refuse(status: int, message: str, **more: Any) -> dict[str, Any]:
    return {"status": status, "body": json.dumps({"error": {"message": message, **more}}).encode()}


LLAMA_CPP = refuse(
    *(400, "the request exceeds the available context size, try increasing it"),
    type="exceed_context_size_error",
    n_prompt_tokens=21004,
    n_ctx=8192,
)
MAXIMUM = "This model's maximum context length is"
OPENAI = f"{MAXIMUM} 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce"
VLLM = f"{MAXIMUM} 4096 tokens. However, you requested 5096 tokens (4840 in the messages, 256 in"


HTML = {"body": b"<html><body>Welcome to nginx</body></html>", "content_type": "text/html"}


@pytest.mark.parametrize(
    ("reply", "expected", "said"),
    [
        (HTML, BadResponse, "it is not JSON: ' Welcome to nginx '"),
        ({"body": b"\x00\xff\x13" * 50}, BadResponse, "it is not JSON"),
        (
            {"body": b"\x1f\x8b\x08 no gzip" * 20, "headers": {"Content-Encoding": "gzip"}},
            BadResponse,
            "its compression is broken",
        ),
        (
            {"body": b'{"type": "message", "content": [{"type": "text", "text": "Yes."}]}'},
            BadResponse,
            "no choices, as another protocol's",
        ),
        (
            {"status": 302, "body": b"", "headers": {"Location": "http://login.example/"}},
            RequestRefused,
            "takes no chat completions: 302 http://login.example/",
        ),
        ({**HTML, "status": 405}, RequestRefused, "takes no chat completions: 405"),
        ({**HTML, "status": 404}, ModelUnknown, "does not know"),
    ],
    ids=["html", "binary", "gzip garbage", "other protocol", "redirect", "405", "404"],
)
async def test_a_server_of_another_kind_is_named_with_what_to_check(
    reply: dict[str, Any], expected: type[SupervisorError], said: str
) -> None:
    error = await call_server(**reply, models=())

    line = error.format_line()
    assert type(error) is expected
    assert said in line
    assert "next: check" in line
    assert "\n" not in line and "<" not in line and "sk-test" not in line


@pytest.mark.parametrize(
    "reply",
    [
        refuse(404, "The model `qwen3-4b` does not exist.", code="model_not_found"),
        refuse(404, 'model "qwen3-4b" not found, try pulling it first', type="api_error"),
        refuse(400, 'Invalid model identifier "qwen3-4b"', type="invalid_request_error"),
        refuse(400, "qwen3-4b is not a valid model ID"),
    ],
    ids=["OpenAI and vLLM", "Ollama", "LM Studio", "OpenRouter"],
)
async def test_a_model_that_the_endpoint_lacks_is_named_with_the_nearest(
    reply: dict[str, Any],
) -> None:
    error = await call_server(**reply, models=("llama3:8b", "qwen3:4b"))

    assert type(error) is ModelUnknown
    assert error.next == (
        "set SUPERVISE_MODEL_FAST to openai:qwen3:4b; the endpoint has llama3:8b, qwen3:4b"
    )


async def test_a_refusal_of_a_parameter_is_not_taken_for_a_missing_model() -> None:
    error = await call_server(**refuse(400, "the model supports no tool_choice: unknown value"))

    assert type(error) is RequestRefused


@pytest.mark.parametrize(
    ("reply", "needed", "limit"),
    [
        (LLAMA_CPP, 21004, 8192),
        (refuse(400, OPENAI, code="context_length_exceeded"), 9001, 8192),
        (refuse(400, VLLM), 5096, 4096),
        (refuse(400, "prompt is too long: 208,310 tokens > 200,000 maximum"), 208310, 200000),
        (refuse(400, "too long", code="context_length_exceeded"), None, None),
    ],
    ids=["llama.cpp", "OpenAI", "vLLM", "Anthropic", "no numbers"],
)
async def test_a_context_window_that_is_too_small_is_named_with_by_how_much(
    reply: dict[str, Any], needed: int | None, limit: int | None
) -> None:
    error = await call_server(**reply)

    assert type(error) is ContextTooSmall
    assert (error.needed, error.limit) == (needed, limit)
    if needed and limit:
        assert f"the request of {needed:,} tokens is {needed - limit:,} too long" in str(error)
    assert error.next


async def test_doctor_names_the_variable_of_an_address_that_answers_with_html() -> None:
    async with run_server() as server:
        page = TierSettings(base_url=server.base_url.replace("/v1", "/page"))
        answer = await asyncio.to_thread(fetch_models, TierEndpoint(page, {}, "SUPERVISE_FAST_"))

    assert not answer.is_reachable
    assert answer.problem == "answers with text/html, which is not JSON"
    assert answer.fix.startswith("check that SUPERVISE_FAST_BASE_URL ")
