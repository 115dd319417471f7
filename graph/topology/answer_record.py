"""Notes which questions a run has answered, for a server that runs it again after a crash.

The checkpoint on which a run waits stays the thread's last one until its whole dispatch has ended;
it does not hold the run that answers. Without the note the answer might go to another question.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import NAMESPACE_OID, uuid5

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from nodes.limits.nesting import parse_json

CHANNEL: Final = "__answer_record"
"""No channel of a graph; LangGraph ignores writes of tasks that it does not know."""


@dataclass(frozen=True)
class AnswerRecord:
    """What a run has answered at a checkpoint."""

    run: str
    """Id of the run."""
    questions: tuple[str, ...]
    """Ids of the questions."""
    clock: str = ""
    """The run's start and deadline, as JSON."""


async def save_answer_record(
    record: AnswerRecord, config: RunnableConfig, saver: BaseCheckpointSaver[Any] | None
) -> None:
    """Save a record beside the checkpoint of a config; without a checkpointer do nothing."""
    if saver is None:
        return
    task_id = str(uuid5(NAMESPACE_OID, f"{CHANNEL}:{record.run}"))
    await saver.aput_writes(config, [(CHANNEL, json.dumps(asdict(record)))], task_id)


async def load_answer_record(
    run: str, config: RunnableConfig, saver: BaseCheckpointSaver[Any]
) -> AnswerRecord | None:
    """Return what a run has answered at the checkpoint of a config; None if it has not."""
    saved = await saver.aget_tuple(config)
    for _, channel, value in (saved and saved.pending_writes) or ():
        if channel == CHANNEL:
            found = parse_json(value)
            if found["run"] == run:
                return AnswerRecord(run, tuple(found["questions"]), found["clock"])
    return None
