"""Labels for seconds and tasks, the same in every output."""


def format_seconds(seconds: float) -> str:
    """Return a time in seconds, to the hundredth."""
    return f"{seconds:,.2f} s"


def format_task(task: str, worker: str) -> str:
    """Return a task with its worker; one name if both are equal."""
    return task if task.rpartition("/")[2] == worker else f"{task} {worker}".strip()
