"""Send a run to LangSmith where that is switched on, and nothing where it is not.

    python -m examples.mechanisms.langsmith_trace

A server on this machine takes LangSmith's place (`LANGSMITH_ENDPOINT`). The command line answers
the same request twice, with the key of LangSmith set both times: without `LANGSMITH_TRACING=true`
the server receives no request at all, with it one tree of runs, each named by what it is for.
"""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL

from examples.mechanisms.scripted import show
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER
from tests.integration.langsmith_server import LangSmithRecord, format_tree, run_langsmith_server

TEAM = SHIPPED_TEAMS_FOLDER / "market_analysis"
COMMAND = [
    "run",
    "Compare the market capitalization of the top 3 cloud providers",
    "--team",
    TEAM.name,
    "--quiet",
]


async def run_command(url: str, *, is_on: bool) -> None:
    """Run the command line, with LangSmith at `url`."""
    environment = {
        **os.environ,
        "LANGSMITH_TRACING": str(is_on).lower(),
        "LANGSMITH_ENDPOINT": url,
        "LANGSMITH_API_KEY": "lsv2_pt_of_the_example",
    }
    files = ["--file", str(TEAM / "sample")]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "graph.cli", *COMMAND, *files, env=environment, stdout=DEVNULL
    )
    if await process.wait():
        raise SystemExit("the command failed; its lines above say why")


async def run_example() -> dict[bool, LangSmithRecord]:
    """Run the command both ways; return what was received, by whether tracing was on."""
    received = {}
    for is_on in (False, True):
        print(f"LANGSMITH_TRACING={str(is_on).lower()}", flush=True)
        with run_langsmith_server("compressed") as record:
            await run_command(record.url, is_on=is_on)
        print(f"requests that LangSmith received: {len(record.requests)}")
        for line in format_tree(record, keys=("task", "attempt", "tier")):
            print(f"  {line}")
        received[is_on] = record
    return received


if __name__ == "__main__":
    show(__doc__, run_example)
