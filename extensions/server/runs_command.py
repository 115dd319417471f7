"""The option `--url`: the runs of a server are listed, shown, resumed and stopped."""

from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from extensions.server.run_connection import ServerUnreadable, is_open_to_network, open_server
from extensions.server.run_resume import aresume_on_server
from extensions.server.runs import ServerLog, alist_server_runs, load_server_log
from graph.commands.cancellation import run_cancellable
from graph.commands.output import print_report, save_report
from graph.commands.run import print_outcome, report_errors_as_json, run_with_progress
from graph.commands.runs import lay_out_trace, print_run, print_runs, print_trace
from graph.display.progress_display import ProgressDisplay
from graph.display.stderr_console import print_to_stderr
from graph.display.streams import announce_start
from graph.runs.event_log import FORM_ERRORS
from graph.runs.run_view import RunView
from graph.runs.stopping import stop_tasks
from graph.settings import Settings
from nodes.text.counts import format_count
from state import COMPLETE_STATUSES, Context, RunStatus

Result = TypeVar("Result")


@dataclass(frozen=True)
class RunsOfServer:
    """The runs of the server at an address, for the option `--url`."""

    url: str
    settings: Settings

    def show_runs(self) -> int:
        """List the runs of a server, the newest first."""
        _warn_of_open_key(self.url, self.settings)
        found = _wait_for(alist_server_runs(self.url, settings=self.settings))
        with _refuse_unreadable(self.url):
            if found.runs:
                print_runs(found.runs)
        if not found.runs:
            print_to_stderr(f"no runs on {_get_host(self.url)}")
        if found.foreign:
            threads = format_count(found.foreign, "thread")
            print_to_stderr(f"not listed: {threads} without a run of a team of this version")
        if found.is_cut:
            print_to_stderr("only the newest are listed", style="dim")
        return 0

    def list_threads(self) -> list[str]:
        """Return the newest threads of a server, the newest first."""
        found = _wait_for(alist_server_runs(self.url, settings=self.settings))
        return [run["thread"] for run in found.runs]

    def show_run(self, thread: str, *, profile: bool = False) -> int:
        """Show the answer of a run of a server; with its profile, how it was made too."""
        log = _load_log(thread, self.url, self.settings)
        with _refuse_unreadable(self.url):
            named = f"{thread} --url {self.url}"
            return print_run(thread, log.build_trace(), named=named, profile=profile)

    def show_trace(self, thread: str, *, out: Path | None, format: str) -> int:
        """Write the trace of a run of a server as JSON or as a page, to stdout or to a file."""
        log = _load_log(thread, self.url, self.settings)
        if format == "chrome":
            with _refuse_unreadable(self.url):
                trace = lay_out_trace(thread, log.entries)
            return print_trace(trace, out)
        trace = _build_trace(log, self.url)
        with _refuse_unreadable(self.url):
            return (print_report if format == "html" else print_trace)(trace, out)

    def load_trace(self, thread: str) -> dict[str, Any]:
        """Return the trace of a run of a server."""
        return _build_trace(_load_log(thread, self.url, self.settings), self.url)

    def resume(
        self,
        thread: str,
        *,
        answer: str | None,
        context: Context,
        as_json: bool,
        quiet: bool,
        report_to: Path | None = None,
        require: RunStatus | None = None,
    ) -> int:
        """Resume a thread of a server, print its outcome, and return the exit code."""
        display = ProgressDisplay(quiet=quiet, shows_answer=not as_json)
        display.progress.thread = thread
        named = f"{thread} --url {self.url}"
        with report_errors_as_json(display, as_json=as_json):
            log = _load_log(thread, self.url, self.settings)
            if not quiet:
                announce_start(f"resuming thread {thread} on {_get_host(self.url)}")
            with _refuse_unreadable(self.url):
                for event in log.entries:
                    if "kind" in event:
                        display.progress.apply_event(event)
            work = aresume_on_server(
                thread,
                self.url,
                answer=answer,
                context=context,
                settings=self.settings,
                on_event=display.show_event,
                seen=log.line_count,
            )

            def describe_left(_: RunView) -> str:
                host = _get_host(self.url)
                return f"left: the run continues on {host}. next: supervise resume {named}"

            outcome = run_with_progress(work, display, describe_left)
        if report_to:
            save_report(self.load_trace(thread), report_to)
        with _refuse_unreadable(self.url):
            shown = outcome.to_json()
            how: dict[str, Any] = {"as_json": as_json, "quiet": quiet, "require": require}
            code = print_outcome(outcome, shown, named=named, **how)
        if log.run["status"] in COMPLETE_STATUSES and not quiet:
            print_to_stderr("the run was done before, its answer is shown again")
        return code

    async def stop(self, thread: str, task: str) -> dict[str, str]:
        """Stop a task of a run, or all; return how each ended."""
        return await astop_on_server(thread, self.url, task, settings=self.settings)


def _load_log(thread: str, url: str, settings: Settings) -> ServerLog:
    async def load() -> ServerLog:
        async with open_server(url, settings) as server:
            return await load_server_log(server, thread)

    _warn_of_open_key(url, settings)
    log = _wait_for(load())
    if log.unreadable:
        entries = format_count(log.unreadable, "entry", "entries")
        print_to_stderr(f"{entries} of the trace could not be read", style="yellow")
    return log


def _warn_of_open_key(url: str, settings: Settings) -> None:
    """Write a line if the key is sent over a network without encryption.

    It is not refused, since the network may be private.
    """
    if settings.server_key is not None and is_open_to_network(url):
        print_to_stderr(
            f"SUPERVISE_SERVER_KEY is sent to {_get_host(url)} without encryption: use https://",
            style="yellow",
        )


def _build_trace(log: ServerLog, url: str) -> dict[str, Any]:
    if log.run["status"] == "running":
        print_to_stderr("the run has not ended: the trace is that so far", style="yellow")
    with _refuse_unreadable(url):
        return log.build_trace()


def _wait_for(work: Coroutine[Any, Any, Result]) -> Result:
    return run_cancellable(work, farewell=lambda: "stopped")


@contextmanager
def _refuse_unreadable(url: str) -> Iterator[None]:
    """Turn what values of another form break inside into one line.

    Raises:
        ServerUnreadable: a value has not the form that this version reads.
    """
    try:
        yield
    except FORM_ERRORS as error:
        raise ServerUnreadable(
            f"what {_get_host(url)} has of the run cannot be read",
            cause=type(error).__name__,
            next="is the server's version that of this command?",
        ) from None


def _get_host(url: str) -> str:
    return urlsplit(url).netloc


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
