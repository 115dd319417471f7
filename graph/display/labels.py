"""How seconds and tasks are written, the same wherever they are shown."""


def format_seconds(seconds: float) -> str:
    """Return a time in seconds, to the hundredth."""
    return f"{seconds:,.2f} s"


def format_task(task: str, worker: str) -> str:
    """Return a task with its worker; once, where the task is called like the worker."""
    return task if task.rpartition("/")[2] == worker else f"{task} {worker}".strip()
