"""Workers that speak A2A, with an agent built by the SDK as the far side, in this process."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message, Part, Role
from starlette.applications import Starlette

from extensions.remote.a2a_protocol import A2aSession, open_a2a
from extensions.remote.output import read_report
from extensions.remote.session import RemoteRequest, RemoteState
from nodes.net.connection import RemoteRefused
from nodes.schemas.servers import RemoteSpec

URL = "http://agent.example"
SPEC = RemoteSpec(protocol="a2a", url=URL)


class Agent(AgentExecutor):
    """Does what the words of a message ask for."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.go = asyncio.Event()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        words = context.get_user_input()
        self.calls.append(words)
        if words == "Greet.":
            said = Message(message_id="m", role=Role.ROLE_AGENT, parts=[Part(text="Hello.")])
            await event_queue.enqueue_event(said)
            return
        assert context.message is not None
        task = context.current_task or new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        if words == "Wait.":
            await updater.start_work()
            await self.go.wait()
        if words == "Ask.":
            await updater.requires_input(updater.new_agent_message([Part(text="Which year?")]))
        elif words == "Fail.":
            await updater.failed(updater.new_agent_message([Part(text="the disk is full")]))
        else:
            await updater.add_artifact([Part(text="It is 42.")])
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.calls.append("cancelled")
        assert context.task_id is not None
        assert context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def serve(agent: Agent, *, address: str = URL, version: str = "1.0") -> httpx.ASGITransport:
    card = AgentCard(
        name="Counter",
        description="Counts.",
        version="2.0",
        capabilities=AgentCapabilities(),
        default_input_modes=["text"],
        default_output_modes=["text"],
        skills=[AgentSkill(id="count", name="count", description="Counts.", tags=["count"])],
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding="JSONRPC", protocol_version=version)
        ],
    )
    handler = DefaultRequestHandler(agent, InMemoryTaskStore(), card)
    routes = create_jsonrpc_routes(handler, "/", enable_v0_3_compat=version != "1.0")
    return httpx.ASGITransport(Starlette(routes=[*create_agent_card_routes(card), *routes]))


async def ignore(event: Mapping[str, Any]) -> None:
    """Hear nothing."""


async def ask(session: A2aSession, words: str) -> RemoteState:
    await session.begin(RemoteRequest(key=words, words=words, full_text=words))
    return await session.wait(ignore)


@pytest.mark.parametrize("version", ["1.0", "0.3"])
async def test_its_output_is_the_answer_in_either_version(version: str):
    async with open_a2a(SPEC, {}, serve(Agent(), version=version)) as session:
        state = await ask(session, "Count.")

    assert state.status == "done"
    assert read_report(state.values).output == "It is 42."


async def test_an_agent_may_answer_with_a_message_and_without_a_task():
    async with open_a2a(SPEC, {}, serve(Agent())) as session:
        state = await ask(session, "Greet.")

    assert read_report(state.values).output == "Hello."


async def test_its_question_and_its_failure_are_said_in_its_words():
    async with open_a2a(SPEC, {}, serve(Agent())) as session:
        asked = await ask(session, "Ask.")
        failed = await ask(session, "Fail.")

    assert (asked.status, asked.questions[0].value) == ("asks", "Which year?")
    assert (failed.status, failed.error) == ("failed", "failed: the disk is full")


async def test_work_is_joined_and_can_be_cancelled():
    agent = Agent()
    transport = serve(agent)
    request = RemoteRequest(key="k", words="Wait.", full_text="Wait.")
    async with open_a2a(SPEC, {}, transport) as first:
        begun = await first.begin(request)
    async with open_a2a(SPEC, {}, transport) as second:
        joined = await second.begin(request)
        await second.cancel()
        state = await second.wait(ignore)

    assert (begun.is_joined, joined.is_joined) == (False, True)
    assert state.status == "cancelled"
    assert agent.calls == ["Wait.", "cancelled"]


async def test_a_card_that_names_another_address_is_not_followed():
    agent = Agent()
    async with open_a2a(SPEC, {}, serve(agent, address="http://elsewhere.example")) as session:
        with pytest.raises(RemoteRefused, match=r"names another address, elsewhere\.example"):
            await ask(session, "Count.")

    assert agent.calls == []


async def test_a_probe_names_the_agent_and_starts_nothing():
    agent = Agent()
    async with open_a2a(SPEC, {}, serve(agent)) as session:
        assert await session.probe() == "A2A agent Counter 2.0"

    assert agent.calls == []
