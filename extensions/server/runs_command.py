"""The option `--url`: the runs of a server are listed, shown, resumed and stopped."""

from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from extensions.server.run_connection import ServerUnreadable, is_open_to_network, open_server
from extensions.server.run_resume import aresume_on_server
from extensions.server.runs import ServerLog, alist_server_runs, load_server_log
from graph.commands.cancellation import run_cancellable
from graph.display.stderr_console import print_to_stderr
from graph.extensions import RunSource
from graph.runs.event_log import FORM_ERRORS
from graph.runs.outcome import Outcome
from graph.runs.stopping import stop_tasks
from graph.settings import Settings
from nodes.text.counts import format_count

Result = TypeVar("Result")


@dataclass(frozen=True)
class RunsOfServer(RunSource):
    """The runs of the server at an address, for the option `--url`."""

    _seen: dict[str, int] = field(default_factory=dict)
    """Lines of the trace of each thread that was loaded."""

    def list_runs(self) -> tuple[Sequence[Mapping[str, Any]], list[str]]:
        """Return the newest runs, the newest first, and which threads are not among them."""
        self._warn_of_open_key()
        found = _wait_for(alist_server_runs(self.url, settings=self.settings))
        threads = format_count(found.foreign, "thread")
        notes = {
            f"not listed: {threads} without a run of a team of this version": found.foreign,
            "only the newest are listed": found.is_cut,
        }
        return found.runs, [note for note, is_true in notes.items() if is_true]

    def load_trace(self, thread: str) -> dict[str, Any]:
        """Return the trace of a run."""

        async def load() -> ServerLog:
            async with open_server(self.url, self.settings) as server:
                return await load_server_log(server, thread)

        self._warn_of_open_key()
        log = _wait_for(load())
        if log.unreadable:
            entries = format_count(log.unreadable, "entry", "entries")
            print_to_stderr(f"{entries} of the trace could not be read", style="yellow")
        self._seen[thread] = log.line_count
        with self.refuse_other_forms(thread):
            return log.build_trace()

    @contextmanager
    def refuse_other_forms(self, thread: str) -> Iterator[None]:
        """Turn what values of another form break inside into one line.

        Raises:
            ServerUnreadable: a value has not the form that this version reads.
        """
        try:
            yield
        except FORM_ERRORS as error:
            raise ServerUnreadable(
                f"what the server has of the run{self.place} cannot be read",
                cause=type(error).__name__,
                next="is the server's version that of this command?",
            ) from None

    async def resume(
        self, thread: str, *, team: str | None = None, on_answer_text: Any = None, **given: Any
    ) -> Outcome:
        """Resume a run, or follow one that is at work, to its outcome.

        The server knows the team, and has no stream of the answer's text.
        """
        seen = self._seen.get(thread)
        return await aresume_on_server(thread, self.url, settings=self.settings, seen=seen, **given)

    async def stop(self, thread: str, task: str) -> dict[str, str]:
        """Stop a task of a run, or all; return how each ended."""
        return await astop_on_server(thread, self.url, task, settings=self.settings)

    def _warn_of_open_key(self) -> None:
        """Write a line if the key is sent over a network without encryption.

        It is not refused, since the network may be private.
        """
        if self.settings.server_key is not None and is_open_to_network(self.url):
            host = urlsplit(self.url).netloc
            print_to_stderr(
                f"SUPERVISE_SERVER_KEY is sent to {host} without encryption: use https://",
                style="yellow",
            )


def _wait_for(work: Coroutine[Any, Any, Result]) -> Result:
    return run_cancellable(work, farewell=lambda: "stopped")


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
