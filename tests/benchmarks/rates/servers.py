"""Rates over two instances of Aegra: `python -m tests.benchmarks.rates.servers [--runs 72]`.

Runs are started through both; the endpoint counts the requests of the real minute.
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from tests.benchmarks.options import read_options
from tests.benchmarks.rates.measure import describe_arrivals
from tests.cluster.cluster import TEAM, Cluster
from tests.cluster.services import RedisServer
from tests.endpoint import Scenario, run_endpoint_process, script_tasks

NEEDS = "Redis"
"""What must be installed; the tests read only the options of such a program."""

REQUESTS: Final = 240
PERIOD_S: Final = 60.0
TASKS: Final = 8


async def finish_runs(cluster: Cluster, runs: int) -> Counter[str]:
    """Start runs through both instances in turn, and wait for all; return their states."""

    async def finish_run(number: int) -> str:
        client = cluster.client(number % 2)
        thread = (await client.threads.create())["thread_id"]
        await client.runs.wait(thread, TEAM, input={"request": "Compare the parts."})
        values = (await client.threads.get_state(thread))["values"]
        return str(values.get("status")) if isinstance(values, dict) else "unknown"

    return Counter(await asyncio.gather(*(finish_run(number) for number in range(runs))))


def measure_servers(runs: int) -> str:
    """Return one line: how the runs ended, and the fullest and the mean minute."""
    scenario = Scenario(tasks=script_tasks({f"T{n}": () for n in range(TASKS)}, latency_s=0.2))
    with tempfile.TemporaryDirectory() as folder, run_endpoint_process(scenario) as endpoint:
        redis = RedisServer(Path(folder))
        variables = {
            "SUPERVISE_RPM": str(REQUESTS),
            "SUPERVISE_REDIS_URL": redis.url,
            "SUPERVISE_INSTANCES": "2",
        }
        try:
            with Cluster(instances=2, endpoint=endpoint.base_url, variables=variables) as cluster:
                ended = asyncio.run(finish_runs(cluster, runs))
            calls = endpoint.fetch_records()["calls"]
        finally:
            redis.kill()
    arrivals = [(float(call["began_s"]), 1.0) for call in calls]
    seconds = max(at for at, _ in arrivals) - min(at for at, _ in arrivals)
    figures = describe_arrivals(arrivals, REQUESTS, PERIOD_S, seconds)
    return (
        f"{runs} runs: {dict(ended)}; {len(arrivals)} requests in {seconds:.0f} s; of {REQUESTS} "
        f"requests a minute: fullest minute {figures.worst:.1%}, used {figures.used:.1%}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=72)
    print(measure_servers(read_options(parser, "runs").runs))
