"""All shipped teams answer under Aegra as they do under `langgraph dev` (embedded model)."""

import asyncio
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from graph.runs.materials import read_materials
from graph.teams.team_loader import list_shipped_teams
from tests.cluster.cluster import Cluster
from tests.cluster.table import Row
from tests.integration.dev_server import dev_server

PLACE: Final = re.compile(r"/\S*/documents/")
"""Where the server keeps the documents that a team writes."""
AT_ONCE: Final = 3
RUN_TIMEOUT_S: Final = 120


@dataclass(frozen=True)
class Sample:
    """A request to a team, with its materials."""

    team: str
    request: str
    materials: Mapping[str, str]


def run_part(is_quick: bool) -> Iterator[Row]:
    """Yield a row: how many teams' answers are the same."""
    samples = asyncio.run(list_samples())
    if is_quick:
        samples = samples[:3]
    with tempfile.TemporaryDirectory() as folder, dev_server(Path(folder)) as dev:
        there = asyncio.run(answer_samples(get_client(url=dev.url, api_key=None), samples))
    with Cluster(1, teams=()) as cluster:
        here = asyncio.run(answer_samples(cluster.client(), samples))
    different = [team for team in there if there[team] != here[team]]
    answered = ("done", "passages", "partial")
    failed = [team for team in there if there[team]["status"] not in answered]
    yield Row(
        "same answers as under langgraph dev",
        runs=len(samples),
        right=len(samples) - len({*different, *failed}),
        problem=", ".join(sorted({*different, *failed})),
    )


async def list_samples() -> list[Sample]:
    """Return a sample for each shipped team: the first row of its exam that brings files."""
    return [await _read_sample(folder) for folder in list_shipped_teams()]


async def _read_sample(folder: Path) -> Sample:
    lines = (folder / "evals.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    row = next((each for each in rows if "files" in each and "facts" in each["expect"]), rows[0])
    files = [folder / name for name in row.get("files", ())]
    return Sample(folder.name, row["request"], await read_materials(files) if files else {})


async def answer_samples(client: LangGraphClient, samples: list[Sample]) -> dict[str, Any]:
    """Return what is to be the same of each sample's run, by team."""
    free = asyncio.Semaphore(AT_ONCE)

    async def answer(sample: Sample) -> tuple[str, Any]:
        async with free, asyncio.timeout(RUN_TIMEOUT_S):
            thread = (await client.threads.create())["thread_id"]
            given: dict[str, Any] = {"request": sample.request, "materials": dict(sample.materials)}
            ended = await client.runs.wait(thread, sample.team, input=given, raise_error=False)
            return sample.team, describe_run(ended)

    return dict(await asyncio.gather(*map(answer, samples)))


def describe_run(state: Any) -> dict[str, Any]:
    """Return what does not depend on time and place of a run's last state."""
    if "answer" not in state:
        return {"status": "no answer", "state": json.dumps(state)[:500]}
    return {
        "status": state["status"],
        "text": PLACE.sub("", state["answer"]["text"]),
        "answer": {key: state["answer"][key] for key in ("gaps", "sources")},
        "tasks": [
            (task["id"], task["worker"], task["depends_on"]) for task in state["plan"]["tasks"]
        ],
        "reports": {name: report["status"] for name, report in state["results"].items()},
    }
