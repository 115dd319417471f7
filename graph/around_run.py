"""The port for what a server adds to each run of a graph; the main house adds nothing."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import StateSnapshot

from nodes.errors import SupervisorError
from nodes.limits.recorder import Recorder
from nodes.schemas.team import Team
from state import Context, Tier

ReadState = Callable[[], Awaitable[StateSnapshot]]
Saver = BaseCheckpointSaver[Any]


@dataclass(frozen=True)
class BegunRun:
    """A run whose input and settings are checked and whose graph is about to start."""

    config: RunnableConfig
    """With the run's scope, which may get listeners."""
    saver: Saver | None
    team: str
    is_resumed: bool
    asked: Sequence[str]
    """Gets what the run asks a human."""
    read_state: ReadState
    """Reads the thread's state, with subgraphs."""


class RunRecord(Recorder, Protocol):
    """A recorder that keeps a run in a file; an extension has it."""

    async def begin(
        self,
        begun: BegunRun,
        given: Any,
        context: Context,
        *,
        team: Team,
        models: Mapping[Tier, str],
    ) -> None:
        """Begin the part of this process, with all that the graph is given."""

    def note_end(self, values: Mapping[str, Any], error: SupervisorError | None) -> None:
        """Keep what the run has come to: its last state, and its error."""

    def end(self) -> None:
        """End the part of this process."""


class AroundRun:
    """Wraps each run of a graph; every method may be left as it is."""

    @asynccontextmanager
    async def claim(
        self, saver: Saver | None, config: RunnableConfig
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Take the run's thread before its state is read.

        Yield what the configurable of the run must have for it.
        """
        yield {}

    @asynccontextmanager
    async def follow(self, run: BegunRun) -> AsyncIterator[None]:
        """Follow a run to its end, or to the error with which it ends."""
        yield

    async def read_view(
        self, config: RunnableConfig, saver: Saver, read_state: ReadState, team: str
    ) -> StateSnapshot | None:
        """Return a view of a thread in the form of a state; None if a config asks for its state.

        Args:
            read_state: reads the thread's last state, whatever checkpoint the config names.
        """
        return None
