"""Runs of teams, and a development server for the tests of group `langgraph_dev`."""

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from graph.topology.supervisor_graph import SupervisorGraph
from nodes.models import call, circuit_breaker
from tests.endpoint import Endpoint, Scenario
from tests.integration.dev_server import PARTS, DevServer, ServerContext, dev_server, langsmith_sink
from tests.integration.far_side.server import FarSide, far_side
from tests.runs import Runs


@pytest.fixture(autouse=True)
def brisk_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a model be asked again at once, so that no test waits for that."""
    monkeypatch.setattr(call, "BACKOFF_S", 0.01)
    monkeypatch.setattr(circuit_breaker, "PAUSE_S", 0.01)


@pytest.fixture
def graph(runs: Runs) -> SupervisorGraph:
    """The test team, whose threads are kept in memory."""
    return runs.build_saved()


@pytest.fixture
async def no_session_stays_open() -> AsyncIterator[None]:
    """End the sessions with MCP servers in the loop of the test that began them."""
    from extensions.mcp.servers.session import close_sessions  # the engine is tested without it

    yield
    await close_sessions()


@pytest.fixture(scope="session")
def far_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FarSide]:
    with far_side(tmp_path_factory.mktemp("far")) as found:
        yield found


@pytest.fixture
def far(far_server: FarSide) -> FarSide:
    """A server of remote workers, of group `far_side`, that remembers no call."""
    far_server.forget()
    return far_server


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerContext]:
    """A server whose models are at an endpoint, in a shell that names collectors of traces."""
    with Endpoint().run_in_thread() as endpoint, langsmith_sink() as (langsmith, paths):
        env = {
            "OPENAI_API_KEY": "sk-test-0123456789abcdef",
            "OPENAI_BASE_URL": endpoint.base_url,
            "LANGSMITH_API_KEY": "lsv2_pt_0123456789abcdef",
            "LANGSMITH_ENDPOINT": langsmith,
            "OTEL_EXPORTER_OTLP_ENDPOINT": langsmith,
        }
        with dev_server(tmp_path_factory.mktemp("checkout"), **env) as server:
            yield ServerContext(server, endpoint, paths)


@pytest.fixture
def server(surroundings: ServerContext) -> Iterator[DevServer]:
    """The server; what it logs during a test is shown when the test fails."""
    known = len(surroundings.server.read_log())
    yield surroundings.server
    sys.stdout.write(surroundings.server.read_log()[known:])


@pytest.fixture
def played(surroundings: ServerContext) -> Endpoint:
    """The endpoint of the server's models, playing two tasks in a row."""
    surroundings.endpoint.load_scenario(Scenario(tasks=PARTS))
    surroundings.endpoint.requests.clear()
    return surroundings.endpoint


@pytest.fixture
async def client(server: DevServer) -> Any:
    async with get_client(url=server.url) as client:
        yield client


@pytest.fixture
async def thread(client: LangGraphClient) -> str:
    return (await client.threads.create())["thread_id"]
