"""openai-agents: agents as tools, called in parallel in one turn; an `SQLiteSession` as memory."""

from typing import Any

from agents import (
    Agent,
    ModelRetrySettings,
    ModelSettings,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
    SQLiteSession,
    Tool,
    function_tool,
    retry_policies,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from tests.benchmarks.versus.peers.serve import Order, Returned, read_offer, serve
from tests.benchmarks.versus.work import INSTRUCTIONS, LEAD_INSTRUCTIONS, MODEL, REQUEST, WORKERS

RETRIES = ModelSettings(
    parallel_tool_calls=True,
    retry=ModelRetrySettings(
        max_retries=2,
        policy=retry_policies.any(
            retry_policies.network_error(), retry_policies.http_status([429, 500, 502, 503])
        ),
    ),
)
CONFIG = RunConfig(tool_not_found_behavior="return_error_to_model")
read_document: Any = function_tool(read_offer, name_override="read_document")


def make_agent(base_url: str, **fields: Any) -> Agent[None]:
    """Make an agent; the runner retries, so its client does not."""
    client = AsyncOpenAI(base_url=base_url, api_key="sk-versus", max_retries=0)
    model = OpenAIChatCompletionsModel(model=MODEL, openai_client=client)
    return Agent(model=model, model_settings=RETRIES, **fields)


def make_worker(base_url: str, name: str) -> Agent[None]:
    """Make a worker; the reader has the tool."""
    tools = [read_document] if name == "reader" else []
    return make_agent(base_url, name=name, instructions=INSTRUCTIONS, tools=tools)


def make_lead(base_url: str, tools: list[Tool]) -> Agent[None]:
    """Make the lead, whose tools are the workers."""
    return make_agent(base_url, name="lead", instructions=LEAD_INSTRUCTIONS, tools=tools)


async def run(order: Order) -> Returned:
    """Run the lead; a resumed run is the request again, with the session of the killed one."""
    tools: list[Tool] = [
        make_worker(order.base_url, name).as_tool(name, words) for name, words in WORKERS.items()
    ]
    session = SQLiteSession(order.thread, order.folder / "runs.sqlite")
    lead = make_lead(order.base_url, tools)
    made = await Runner.run(lead, REQUEST, session=session, run_config=CONFIG)
    return Returned(answer=str(made.final_output))


if __name__ == "__main__":
    set_tracing_disabled(True)
    serve(run, "openai-agents", "openai")
