"""openai-agents on DBOS, which its pages name for durable runs: workers are steps of a workflow."""

import asyncio
from typing import Any

from agents import Runner, function_tool, set_tracing_disabled
from dbos import DBOS, SetWorkflowID
from dbos_openai_agents import DBOSRunner

from tests.benchmarks.versus.peers.openai_agents import CONFIG, make_lead, make_worker
from tests.benchmarks.versus.peers.serve import Order, Returned, serve
from tests.benchmarks.versus.work import REQUEST, WORKERS


async def run_worker(base_url: str, worker: str, task: str) -> str:
    """Run a worker to its report."""
    return str((await Runner.run(make_worker(base_url, worker), task)).final_output)


def make_worker_tool(base_url: str, worker: str, description: str) -> Any:
    """Make a worker a tool of the lead."""

    async def delegate(input: str) -> str:
        return str(await work(base_url, worker, input))

    return function_tool(delegate, name_override=worker, description_override=description)


async def run_lead(base_url: str) -> str:
    """Run the lead to its answer."""
    agent = make_lead(base_url, [make_worker_tool(base_url, *each) for each in WORKERS.items()])
    return str((await DBOSRunner.run(agent, REQUEST, run_config=CONFIG)).final_output)


work: Any = DBOS.step()(run_worker)
lead: Any = DBOS.workflow()(run_lead)
launched: list[DBOS] = []


def launch(order: Order) -> None:
    """Open the database once; what a killed process left is then recovered by DBOS itself."""
    if not launched:
        database = f"sqlite:///{order.folder / 'runs.sqlite'}"
        config: Any = {"name": "versus", "system_database_url": database, "log_level": "WARNING"}
        launched.append(DBOS(config=config))
        DBOS.launch()


async def run(order: Order) -> Returned:
    """Run the workflow of a thread, or wait for the one that is being recovered."""
    await asyncio.to_thread(launch, order)
    if order.is_resumed:
        handle: Any = await DBOS.retrieve_workflow_async(order.thread)
        return Returned(answer=await handle.get_result())
    with SetWorkflowID(order.thread):
        return Returned(answer=await lead(order.base_url))


if __name__ == "__main__":
    set_tracing_disabled(True)
    serve(run, "dbos", "dbos-openai-agents", "openai-agents", "openai")
