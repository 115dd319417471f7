"""Stops tasks of a run that a server works on."""

from collections.abc import Mapping
from typing import Any

from extensions.server.run_connection import open_server
from extensions.server.runs import load_server_log
from graph.runs.stopping import stop_tasks
from graph.settings import Settings


async def astop_on_server(
    thread: str, url: str, task: str = "", *, settings: Settings | None = None
) -> dict[str, str]:
    """Stop a task of a run that a server works on, or all its tasks; as `astop`.

    Raises:
        ServerThreadUnknown, ServerThreadForeign: the server shows no such thread, or it is none of
            a team.
        TaskUnknown, StopUnconfirmed: as `astop`.
        NothingToStop: the same, or the run waits for a human.
        ServerError: the server cannot be used.
    """
    async with open_server(url, settings or Settings()) as server:

        async def load() -> Mapping[str, Any]:
            return (await load_server_log(server, thread)).build_trace()

        async def save(namespace: tuple[str, ...], key: str) -> None:
            with server.translate():
                await server.client.store.put_item(namespace, key, {"thread": thread})

        return await stop_tasks(thread, task, load, save, statuses=("running",))
