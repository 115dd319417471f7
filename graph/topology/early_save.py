"""Saves a report before other tasks may build on it.

LangGraph saves what a node returns after the node has ended. By then other tasks have started on
its report; a kill in between would have the finished work done again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid5

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import StateSnapshot

from graph.stores.side_records import load_records, save_record
from graph.topology.node_config import NAMESPACE_KEY, get_checkpointer
from nodes.limits.langgraph_keys import TASK_ID_KEY
from state import WorkerOutput

CHANNEL: Final = "__early_report"


@dataclass(frozen=True)
class EarlySave:
    """Saves the output of the node that a config belongs to, beside what LangGraph saves of it."""

    config: RunnableConfig
    steps: Mapping[str, int]
    """Attempts so far, a part of the output."""

    async def __call__(self, output: WorkerOutput) -> None:
        """Save a task's output; return when it is saved. Without a checkpointer do nothing."""
        saver = get_checkpointer(self.config)
        if saver is None:
            return
        configurable = self.config["configurable"]
        graph_ns = str(configurable[NAMESPACE_KEY]).rpartition("|")[0].rpartition("|")[0]
        at = {
            "thread_id": configurable["thread_id"],
            NAMESPACE_KEY: graph_ns,
            "checkpoint_id": configurable["checkpoint_map"][graph_ns],
        }
        saved = {**output, "steps": dict(self.steps)}
        task_id = str(uuid5(UUID(configurable[TASK_ID_KEY]), CHANNEL))
        await save_record(saver, {"configurable": at}, CHANNEL, saved, task_id=task_id)


async def read_early_outputs(
    saver: BaseCheckpointSaver[Any], snapshot: StateSnapshot
) -> dict[str, WorkerOutput]:
    """Return the outputs that were saved early at a checkpoint, at every depth, by task."""
    found: dict[str, WorkerOutput] = {}
    for config in _list_configs(snapshot):
        for output in await load_records(saver, config, CHANNEL):
            found |= dict.fromkeys(output["results"], output)
    return found


def _list_configs(snapshot: StateSnapshot) -> Iterator[RunnableConfig]:
    yield snapshot.config
    for task in snapshot.tasks:
        if isinstance(task.state, StateSnapshot):
            yield from _list_configs(task.state)
