"""Serve a scenario until told to stop; prints its address once it listens."""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from supervisor_worker.testing.endpoint.scenario import Scenario
from supervisor_worker.testing.endpoint.server import Endpoint


async def serve_scenario(scenario: Scenario, port: int, log: Path | None) -> None:
    """Serve until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with Endpoint(scenario, port=port, log=log, keeps_bodies=False) as endpoint:
        sys.stdout.write(f"{endpoint.base_url}\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.endpoint", description=__doc__)
    parser.add_argument("--scenario", type=Path, help="a JSON file; without it, an empty scenario")
    parser.add_argument("--port", type=int, default=0, help="0 for a free one")
    parser.add_argument("--log", type=Path, help="a file that gets a JSON line per begin and end")
    chosen = parser.parse_args()
    if chosen.scenario and not chosen.scenario.is_file():
        parser.error(f"no scenario {chosen.scenario}: it is shown in the section of the guide")
    played = Scenario.load(chosen.scenario) if chosen.scenario else Scenario()
    asyncio.run(serve_scenario(played, chosen.port, chosen.log))
