"""`supervise stop`: stop a task of a run at work, or all of its tasks."""

from graph.commands.cancellation import run_cancellable
from graph.display.stderr_console import print_to_stderr
from graph.extensions import open_runs_elsewhere
from graph.runs.stopping import AT_RESUME, astop
from graph.settings import Settings
from nodes.text.plain_text import sanitize_line


def stop_tasks(thread: str, task: str, url: str | None, settings: Settings) -> int:
    """Stop a task, or all, and print how each ended."""
    work = (
        astop(thread, task, settings=settings)
        if url is None
        else open_runs_elsewhere(url, settings).stop(thread, task)
    )
    ended = run_cancellable(work, farewell=lambda: "stopped; the request may have been sent")
    for path, status in ended.items():
        print_to_stderr(f"{sanitize_line(path, 200)} {sanitize_line(status, 40)}")
    if AT_RESUME in ended.values():
        print_to_stderr(f"next: supervise resume {thread}")
    return 0
