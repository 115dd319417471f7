"""Documents of a run: saved a fixed number of times, and available to every attempt."""

import asyncio
import sqlite3
from contextlib import suppress

from graph import arun, build_supervisor
from graph.runs.runner import aresume
from graph.settings import Settings
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.teams import make_team

MATERIALS = {f"{name}.md": f"Part {name} costs 42 euros. " * 400 for name in "ab"}


def script_readers(count: int, *, latency_s: float = 0.0) -> Scenario:
    """Script tasks that all read one document."""
    return Scenario(
        tasks=tuple(
            ScriptedTask(
                id=f"t{n}",
                materials=("a.md",),
                latency_s=latency_s,
                report={"output": "It was read.", "confidence": 90},
            )
            for n in range(count)
        )
    )


def list_sent_texts(endpoint: Endpoint) -> list[str]:
    """Return what each worker's call has sent."""
    return [str(call.body["messages"]) for call in endpoint.select_calls() if call.task]


async def test_the_number_of_tasks_that_read_a_document_does_not_change_how_often_it_is_saved(
    endpoint: Endpoint, settings: Settings
) -> None:
    copies = []
    for count in (1, 6):
        endpoint.load_scenario(script_readers(count))
        outcome = await arun(
            "Compare the parts.",
            team=make_team(),
            settings=settings,
            thread=f"of-{count}",
            materials=MATERIALS,
        )
        assert outcome.status == "done"
        with sqlite3.connect(settings.resolve_database_path()) as base:
            rows = [
                bytes(value)
                for table in ("checkpoints", "supervise_values", "writes")
                for (value,) in base.execute(
                    f"SELECT {'checkpoint' if table == 'checkpoints' else 'value'} FROM {table} "
                    "WHERE thread_id = ?",
                    (f"of-{count}",),
                )
            ]
        base.close()
        copies.append(sum(row.count(MATERIALS["a.md"].encode()) for row in rows))

    assert copies[0] == copies[1] <= 3


async def test_a_resumed_task_has_its_own_documents_and_no_others(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(script_readers(2, latency_s=30.0))
    running = asyncio.ensure_future(
        arun(
            "Compare the parts.",
            team=make_team(),
            settings=settings,
            thread="one",
            materials=MATERIALS,
        )
    )
    await endpoint.wait_for_calls(began=3)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    before = len(list_sent_texts(endpoint))
    endpoint.load_scenario(script_readers(2))

    outcome = await aresume("one", settings=settings)

    sent = list_sent_texts(endpoint)[before:]
    assert outcome.status == "done" and len(sent) == 2
    assert all("Part a costs" in text and "Part b costs" not in text for text in sent)


async def test_a_graph_without_a_checkpointer_gives_a_task_its_documents(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(script_readers(1))
    graph = build_supervisor(make_team(), settings=settings)

    state = await graph.ainvoke({"request": "Compare the parts.", "materials": MATERIALS})

    assert state["results"]["t0"].status == "completed"
    assert "Part a costs" in list_sent_texts(endpoint)[0]
