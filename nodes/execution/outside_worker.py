"""A worker that is not in this process: what an attempt gives it, and what comes of it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from langchain_core.runnables import RunnableConfig

from nodes.execution.doer import Doer
from nodes.execution.proving import mark_returned
from nodes.schemas.handoff import Handoff
from nodes.security.provenance import build_taint, describe_private_source, exclude_worker
from nodes.security.taint import merge_labels
from state import Report, TaintLabel, Usage


@dataclass(frozen=True, kw_only=True)
class OutsideTask:
    """One attempt at a task."""

    handoff: Handoff
    config: RunnableConfig
    timeout_s: float
    attempt: int
    """Its number, from 1."""
    private_source: str
    """What of the task is private; empty where nothing is."""
    guidance: str
    is_checkpointed: bool
    ask_human: bool


class OutsideRun(Protocol):
    """One attempt; its usage is known even when it fails."""

    usage: Usage

    async def run(self, *, earlier: str, answers: Mapping[str, str]) -> Report:
        """Return the report.

        Args:
            earlier: the last attempt's error.
            answers: of a human, by question.

        Raises:
            RemoteError: the worker cannot be used, or failed.
            GraphInterrupt: a human is asked.
        """

    @property
    def taint_labels(self) -> tuple[TaintLabel, ...]:
        """The labels of what it has answered."""


class OutsideWorker(Protocol):
    """A worker that can be asked; an extension builds it from the worker's file."""

    async def probe(self, timeout_s: float) -> str:
        """Return what it offers, in one line; nothing is started there.

        Raises:
            RemoteError: it does not answer in time, or cannot be used.
        """

    def start(self, task: OutsideTask) -> OutsideRun:
        """Return an attempt at a task, which has not begun."""


@dataclass(kw_only=True)
class OutsideDoer(Doer):
    """A worker that is not in this process."""

    get_worker: Callable[[], Awaitable[OutsideWorker]]
    _run: OutsideRun | None = None

    async def do(self, config: RunnableConfig, timeout_s: float) -> Report:
        """Return the worker's report."""
        work = self.work
        others = exclude_worker(work.state, work.worker.name)
        is_private = "private" in build_taint(others).taint_labels
        task = OutsideTask(
            handoff=work.handoff,
            config=config,
            timeout_s=timeout_s,
            attempt=work.number,
            private_source=describe_private_source(others) if is_private else "",
            guidance=work.worker.instructions.strip(),
            is_checkpointed=work.is_checkpointed,
            ask_human=work.context.ask_human,
        )
        self._run = (await self.get_worker()).start(task)
        return await self._run.run(earlier=work.earlier, answers=work.answers)

    async def complete(self, report: Report) -> Report:
        """Return the report, whose claims are what the worker has returned."""
        claims = mark_returned(report.claims)
        return report.model_copy(update={"claims": claims, "failures": (), "lacks_file": False})

    @property
    def usage(self) -> Usage:
        """What the worker has used, as far as it says so."""
        return self._run.usage if self._run else Usage()

    @property
    def taint_labels(self) -> tuple[TaintLabel, ...]:
        """The labels of the task's inputs, and of what the worker has answered."""
        return merge_labels(self.taint.taint_labels, self._run.taint_labels if self._run else ())
