"""A worker that is not in this process: what an attempt gives it, and what comes of it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig

from nodes.execution.doer import Doer
from nodes.execution.proving import mark_returned
from nodes.limits.recorder import Effect, get_recorder, hash_section, take_effect
from nodes.schemas.handoff import Handoff
from nodes.security.provenance import build_taint, describe_private_source, exclude_worker
from nodes.security.taint import merge_labels
from nodes.telemetry.events import build_task_path
from state import Report, TaintLabel, Usage


@dataclass(kw_only=True)
class OutsideTask:
    """One attempt at a task, and what has come of it so far, which is known even when it fails."""

    handoff: Handoff
    config: RunnableConfig
    timeout_s: float
    attempt: int
    """Its number, from 1."""
    private_source: str
    """What of the task is private; empty where nothing is."""
    guidance: str
    earlier: str
    """The last attempt's error."""
    answers: Mapping[str, str]
    """Of a human, by question."""
    is_checkpointed: bool
    ask_human: bool
    usage: Usage = field(default_factory=Usage)
    taint_labels: tuple[TaintLabel, ...] = ()
    """The labels of what the worker has answered."""


class OutsideWorker(Protocol):
    """A worker that can be asked; an extension builds it from the worker's file."""

    async def probe(self, timeout_s: float) -> str:
        """Return what it offers, in one line; nothing is started there.

        Raises:
            RemoteError: it does not answer in time, or cannot be used.
        """

    async def do(self, task: OutsideTask) -> Report:
        """Return the report, and note in the task what was used and read.

        Raises:
            RemoteError: the worker cannot be used, or failed.
            GraphInterrupt: a human is asked.
        """


@dataclass(kw_only=True)
class OutsideDoer(Doer):
    """A worker that is not in this process."""

    get_worker: Callable[[], Awaitable[OutsideWorker]]
    task: OutsideTask | None = None

    async def do(self, config: RunnableConfig, timeout_s: float) -> Report:
        """Return the worker's report."""
        work = self.work
        others = exclude_worker(work.state, work.worker.name)
        is_private = "private" in build_taint(others).taint_labels
        self.task = task = OutsideTask(
            handoff=work.handoff,
            config=config,
            timeout_s=timeout_s,
            attempt=work.number,
            private_source=describe_private_source(others) if is_private else "",
            guidance=work.worker.instructions.strip(),
            earlier=work.earlier,
            answers=work.answers,
            is_checkpointed=work.is_checkpointed,
            ask_human=work.context.ask_human,
        )
        effect = Effect(
            kind="remote",
            purpose=work.worker.name,
            task=build_task_path(config, work.task.id),
            attempt=work.number,
            sections=_hash_request(task) if get_recorder() else {},
            dump=partial(_dump, task),
            load=partial(_load, task),
        )
        return await take_effect(effect, partial(self._ask, task))

    async def _ask(self, task: OutsideTask) -> Report:
        return await (await self.get_worker()).do(task)

    async def complete(self, report: Report) -> Report:
        """Return the report, whose claims are what the worker has returned."""
        claims = mark_returned(report.claims)
        return report.model_copy(update={"claims": claims, "failures": (), "lacks_file": False})

    @property
    def usage(self) -> Usage:
        """What the worker has used, as far as it says so."""
        return self.task.usage if self.task else Usage()

    @property
    def taint_labels(self) -> tuple[TaintLabel, ...]:
        """The labels of the task's inputs, and of what the worker has answered."""
        return merge_labels(self.taint.taint_labels, self.task.taint_labels if self.task else ())


def _hash_request(task: OutsideTask) -> dict[str, str]:
    handoff = task.handoff
    return {
        "task": hash_section(handoff.intent),
        "context": hash_section([each.model_dump(mode="json") for each in handoff.context]),
        "materials": hash_section(dict(handoff.artifacts)),
        "guidance": hash_section(task.guidance),
        "answers": hash_section([task.earlier, dict(task.answers)]),
    }


def _dump(task: OutsideTask, report: Report | None) -> Any:
    """Return the report, and what the worker has used and read, as JSON."""
    said, usage = report and report.model_dump(mode="json"), task.usage.model_dump(mode="json")
    return {"report": said, "usage": usage, "labels": task.taint_labels}


def _load(task: OutsideTask, kept: Any) -> Report | None:
    task.usage, task.taint_labels = Usage.model_validate(kept["usage"]), tuple(kept["labels"])
    return kept["report"] and Report.model_validate(kept["report"])
