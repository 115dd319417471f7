"""A run by each provider's extra, against a server of its protocol (S17)."""

from importlib.util import find_spec
from typing import Any

import pytest
from aiohttp.test_utils import TestServer

from graph import arun
from graph.settings import Settings
from nodes.models.settings import PROVIDERS
from nodes.schemas.team import Worker
from tests.providers.server import ProviderServer
from tests.providers.wires import TOKENS_CACHED, TOKENS_IN, TOKENS_OUT, WIRES, Wire
from tests.teams import make_team

pytestmark = pytest.mark.slow
FINDER = Worker(
    name="researcher", description="Finds prices.", instructions="Work.", tools=("calculate",)
)
REQUEST = "What do part A and part B cost?"
TEAM = make_team(workers=(FINDER,))


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("wire", WIRES, ids=[wire.extra for wire in WIRES])
async def test_a_run_of_two_tasks_with_a_tool_costs_six_calls(
    wire: Wire, is_streamed: bool, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    if not find_spec(PROVIDERS[wire.extra].module):
        pytest.skip(f"the extra {wire.extra} is not installed")
    if is_streamed and wire.write_stream is None:
        pytest.skip("its stream is binary, and not written here")
    server, name = ProviderServer(wire), f"{wire.extra}:{wire.model}"
    events: list[Any] = []
    async with TestServer(server.app) as served:
        address = str(served.make_url("")).rstrip("/")
        for variable, value in wire.environment.items():
            monkeypatch.setenv(variable, value.format(address=address))
        names = {f"model_{tier}": name for tier in ("fast", "standard", "strong")}
        own = settings.model_copy(update={**names, "stream": is_streamed, "openai_base_url": None})

        outcome = await arun(REQUEST, team=TEAM, settings=own, on_event=events.append)

    assert (outcome.status, outcome.answer and outcome.answer.text) == (
        "done",
        "Both parts cost 42 euros.",
    )
    assert len(server.bodies) == outcome.usage.model_calls == 6
    assert outcome.usage.output_tokens == 6 * TOKENS_OUT
    assert outcome.usage.input_tokens == 6 * TOKENS_IN
    assert "Find the price of part A" in server.sent_text
    cached = [e.get("cached_tokens") for e in events if e["kind"] == "model_call"]
    assert cached == [TOKENS_CACHED if wire.is_cached else None] * 6
    assert "42" in server.sent_text, "what the tool returned is sent in the provider's form"


async def test_anthropics_prompts_are_cached_as_its_protocol_asks(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("langchain_anthropic")
    (wire,) = (wire for wire in WIRES if wire.extra == "anthropic")
    server, name = ProviderServer(wire), f"anthropic:{wire.model}"
    async with TestServer(server.app) as served:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-x")
        monkeypatch.setenv("ANTHROPIC_API_URL", str(served.make_url("")).rstrip("/"))
        names = {f"model_{tier}": name for tier in ("fast", "standard", "strong")}
        own = settings.model_copy(update={**names, "openai_base_url": None})

        await arun(REQUEST, team=TEAM, settings=own)

    assert all(body["cache_control"] == {"type": "ephemeral"} for body in server.bodies)
    assert all(body["tool_choice"]["type"] == "any" for body in server.bodies)
