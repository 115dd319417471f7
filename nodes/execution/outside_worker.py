"""A worker that is not in this process: what an attempt gives it, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from langchain_core.runnables import RunnableConfig

from nodes.schemas.handoff import Handoff
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
