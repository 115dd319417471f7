"""What a run knows of itself: its clock, its limits, and the task that it is a part of."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from langchain_core.runnables import RunnableConfig

from nodes.limits.budget import Budget
from nodes.limits.langgraph_keys import CHECKPOINTER_KEY
from nodes.limits.outside_waits import OutsideWaits
from nodes.limits.stop_requests import StopRequests
from state import Origin, Plan, Report, Tier, Usage

if TYPE_CHECKING:
    from nodes.limits.recorder import Recorder

SCOPE_KEY: Final = "__run_scope"
"""Of a `configurable`. LangGraph saves no entry whose name begins like this with a checkpoint."""
SYNTHESIS_SHARE: Final = 0.15
"""Of a run's deadline, kept for the answer."""
MAX_SYNTHESIS_S: Final = 30.0
CALLS_PER_TASK: Final = 4
"""Model calls that a default deadline leaves time for, one after another."""
MAX_LENGTHENING: Final = 8.0
CertificateListener = Callable[[Mapping[str, Any]], None]


@dataclass
class Pace:
    """How long a run's model calls take, and how many tasks its plans have."""

    calls: int = 0
    seconds: float = 0.0
    tasks: dict[str, int] = field(default_factory=dict)
    """By the path of the task that a nested team does; the run's own plan is at ""."""

    def record_answer(self, seconds: float) -> None:
        """Count a call that was answered: silence lengthens no deadline."""
        self.calls, self.seconds = self.calls + 1, self.seconds + seconds

    def lengthen(self, limit_s: float) -> float:
        """Return a default deadline, longer where the plan's calls need it at their mean time."""
        mean_s = self.seconds / self.calls if self.calls else 0.0
        needed_s = CALLS_PER_TASK * mean_s * sum(self.tasks.values())
        return min(max(limit_s, needed_s), MAX_LENGTHENING * limit_s)


@dataclass(frozen=True)
class Deadline:
    """The moments of a deadline, in seconds on the clock of `now_s`."""

    starts_at: float
    limit_s: float
    pace: Pace | None = None
    """Of a default deadline, which lasts longer if models answer slowly; None for one that is set.
    """

    @property
    def ends_at(self) -> float:
        return self.starts_at + self._compute_limit_s()

    @property
    def work_ends_at(self) -> float:
        """From here on only the answer is written."""
        return self.ends_at - min(self._compute_limit_s() * SYNTHESIS_SHARE, MAX_SYNTHESIS_S)

    def _compute_limit_s(self) -> float:
        return self.pace.lengthen(self.limit_s) if self.pace else self.limit_s


@dataclass(frozen=True)
class RunScope:
    """Travels in a run's config; a client's JSON cannot be one."""

    began_at: float | None = None
    """On the clock of `now_s`; None outside a run of ours."""
    deadline: Deadline | None = None
    pace: Pace | None = None
    budget: Budget | None = None
    waits: OutsideWaits = field(default_factory=OutsideWaits, compare=False)
    outer_task: str = ""
    """The path of the task that a nested team does: `task` or `outer/inner`."""
    prior_results: tuple[Report, ...] = ()
    """Results that a nested team's task came with."""
    origin: Origin | None = None
    """The provenance of a nested team's task."""
    dispatch_ns: str | None = None
    """The namespace of the supervisor's graph whose dispatch new tasks of a revision join."""
    kept_materials: tuple[str, ...] = ()
    """Names of the materials that a follow-up has from its thread."""
    materials: dict[str, Mapping[str, str]] = field(default_factory=dict, compare=False)
    """Texts by name, by the namespace of the supervisor's graph whose tasks may have them."""
    ignores_saved_context: bool = False
    """The run's saved settings may be another user's; those of the call are used alone."""
    given_plan: Plan | None = None
    """A plan to run instead of asking for one."""
    on_certificate: CertificateListener | None = None
    """Called with the certificate of the plan before anything of it runs."""
    on_answer_text: Callable[[str], None] | None = None
    """Called with the text of the answer so far, while a model writes it."""
    keep_event: Callable[[Mapping[str, Any]], None] | None = None
    """Keeps an event in the trace of the run."""
    read_logged_usage: Callable[[], Mapping[Tier, Usage]] | None = None
    """Reads from the event log what the request has spent, by tier; where there is a log."""
    confirm_writer: Callable[[], Awaitable[None]] | None = None
    """Raises if another server has taken the thread; where several share a database."""
    stops: StopRequests | None = None
    """Where a run can be asked to stop tasks."""
    recorder: "Recorder | None" = field(default=None, compare=False)
    """Keeps what the run takes from outside, or gives back what was kept."""
    clock_offset_s: float = 0.0
    """Of the database's clock from `now_s`; moments that servers share are saved on the former."""
    first_claimed_at: float | None = None
    """When a server first began this run, on the clock of `now_s`; None if that is now."""


def get_run_scope(config: RunnableConfig) -> RunScope:
    """Return the scope of the run that a config belongs to; an empty one outside a run of ours."""
    scope: Any = config.get("configurable", {}).get(SCOPE_KEY)
    return scope if isinstance(scope, RunScope) else RunScope()


def set_deadline(now: float, deadline_s: float | None) -> Deadline | None:
    """Return the moments of a deadline that starts now; None for a run without one."""
    return None if deadline_s is None else Deadline(now, deadline_s)


def has_checkpointer(config: RunnableConfig) -> bool:
    """Return whether a checkpointer saves the run; a thread id alone does not show that.

    LangGraph's server gives a run without a thread an id, but no checkpointer.
    """
    return bool(config.get("configurable", {}).get(CHECKPOINTER_KEY))


def is_stopped(config: RunnableConfig, task: str) -> bool:
    """Return whether a human has stopped a task, or all."""
    scope = get_run_scope(config)
    return scope.stops is not None and scope.stops.includes(_build_path(scope.outer_task, task))


@asynccontextmanager
async def enforce_stop(config: RunnableConfig, task: str) -> AsyncIterator[None]:
    """Cancel the body when a human stops the task, where a run can be asked to.

    Raises:
        TaskStopped: it was stopped, perhaps before.
    """
    scope = get_run_scope(config)
    if scope.stops is None:
        yield
        return
    async with scope.stops.enforce(_build_path(scope.outer_task, task)):
        yield


def _build_path(outer_task: str, task: str) -> str:
    return f"{outer_task}/{task}" if outer_task else task
