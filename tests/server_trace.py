"""The trace that a server keeps of a run, read as the live page reads it."""

from typing import Any
from uuid import UUID

from langgraph_sdk.client import LangGraphClient

from extensions.server.trace_writer import NAMESPACE
from graph.runs.trace import build_trace
from nodes.limits.nesting import parse_json


async def load_server_trace(client: LangGraphClient, thread: str) -> dict[str, Any]:
    """Return the trace of a thread, in the form of a local one."""
    lines, number = list[str](), 0
    while True:
        at: Any = {"checkpoint_ns": NAMESPACE, "checkpoint_id": str(UUID(int=number))}
        view: Any = (await client.threads.get_state(thread, checkpoint=at))["values"]
        lines += view["lines"]
        number = view["next"]
        if number is None:
            return build_trace(map(parse_json, lines))
