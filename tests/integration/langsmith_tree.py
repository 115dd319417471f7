"""The tree of the runs that LangSmith received, as lines to read and to compare."""

from collections.abc import Collection, Iterator
from typing import Any

from tests.integration.langsmith_server import LangSmithRecord


def format_tree(
    record: LangSmithRecord,
    parent: str | None = None,
    *,
    keys: Collection[str] = (),
    depth: int = 0,
) -> Iterator[str]:
    """Yield a line for each run: its name, its kind, its error, the metadata of these keys."""
    for run in record.list_children(parent):
        known = run.get("extra", {}).get("metadata", {})
        shown = "".join(f" {key}={known[key]}" for key in keys if key in known)
        failed = " FAILED" if run.get("error") else ""
        yield f"{'  ' * depth}{run['name']} [{run['run_type']}]{failed}{shown}"
        yield from format_tree(record, run["id"], keys=keys, depth=depth + 1)


def list_paths(record: LangSmithRecord) -> list[str]:
    """Return each run as its own name after those of the runs around it: `team / node / plan`."""
    return [" / ".join(_list_names(record, run)) for run in record.runs.values()]


def _list_names(record: LangSmithRecord, run: dict[str, Any]) -> list[str]:
    parent = record.runs.get(run.get("parent_run_id") or "")
    return [*(_list_names(record, parent) if parent else ()), run["name"]]
