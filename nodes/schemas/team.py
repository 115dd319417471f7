"""A team as its files define it; nothing here is in a checkpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from nodes.schemas.servers import McpServer, RemoteSpec, matches_pattern
from nodes.schemas.single_agent import SINGLE_AGENT, become_single
from state import (
    Context,
    CriticSwitch,
    Frozen,
    LadderRung,
    Percent,
    Plan,
    Report,
    Strategy,
    TaintLabel,
    Tier,
)

Role = Literal["planner", "refiner", "synthesizer", "judge"]
"""A step of the supervisor that asks a model; `planner` also routes, `judge` is the critic, too."""


class Limits(Frozen):
    """Caps of one worker."""

    max_turns: int = Field(10, ge=1, le=50)
    """Model turns in one attempt; the last one may only report."""
    timeout_s: float = Field(120.0, gt=0, allow_inf_nan=False)
    """Seconds of one attempt at a model's usual speed, tools included; waiting for other tasks is
    not counted."""
    max_tokens: int = Field(16_000, ge=64)
    """Tokens, input and output together, that one attempt may use before it must report."""

    def scale_timeout(self, factor: float) -> Self:
        """Return the limits with a longer timeout for a model that was measured to be slow."""
        if factor <= 1:
            return self
        return self.model_copy(update={"timeout_s": self.timeout_s * factor})


class TeamLimits(Limits):
    """Caps of a worker that is a team, unless it says otherwise."""

    timeout_s: float = Field(600.0, gt=0, allow_inf_nan=False)
    max_tokens: int = Field(1_000_000, ge=64)


class Worker(Frozen):
    """A specialist: one narrow instruction and its own tools; or another team."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    description: str = Field(min_length=1)
    """What the planner reads when it chooses: one plain sentence."""
    keywords: str = ""
    """Further words for its work, by which it is found where no language model chooses."""
    instructions: str = ""
    """What the worker's model reads; for a team, what its supervisor reads with each request."""
    team: "Team | None" = None
    """The team that does this worker's tasks, each as a request of its own."""
    remote: RemoteSpec | None = None
    """Where the worker is, if on another server; it has its own model and tools there."""
    tools: tuple[str, ...] = ()
    """Names of files in the team's `tools/` or in `nodes/tools`, or `package.module:attribute`."""
    tier: Tier = "standard"
    tiers: tuple[Tier, ...] = ()
    """Other tiers that the planner may choose for a task."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Of its model's requests, such as `temperature`; they come before those of the tier."""
    fallback: str = ""
    """Name of the worker that takes a task this one failed at; empty for none."""
    hands_over: bool = False
    """Its reports hand a task to a human: of a task that another worker could not do, one is no
    answer."""
    needs: tuple[str, ...] = ()
    """Names of workers whose reports it works on: each of its tasks depends on a task of theirs."""
    notice: str = ""
    """Said at the end of every answer that this worker had a part in; empty for nothing."""
    reads_all: tuple[str, ...] = ()
    """Kinds of materials, such as `diff` or `md`, of which its model must read all lines: one that
    it was not shown makes the report partial, even where a tool has read it. `any` is all kinds."""
    limits: Limits = Limits()

    @property
    def card(self) -> str:
        """The words by which it is found: its name, description and keywords."""
        return f"{self.name} {self.description} {self.keywords}".rstrip()

    def choose_tier(self, wanted: Tier | None) -> Tier:
        """Return the tier of a task: the one that the plan wants, if the worker may use it."""
        return wanted if wanted in self.tiers else self.tier

    @model_validator(mode="before")
    @classmethod
    def _apply_team_limits(cls, value: Any) -> Any:
        is_group = isinstance(value, dict) and (value.get("team") or value.get("remote"))
        if is_group and not value.get("limits"):
            return {**value, "limits": TeamLimits()}
        return value

    @model_validator(mode="after")
    def _require_instructions_or_team(self) -> Self:
        if self.remote is not None and (self.team is not None or self.tools):
            raise ValueError(f"worker {self.name!r} is remote: it has no tools or team here")
        if self.team is None and self.remote is None and not self.instructions.strip():
            raise ValueError(f"worker {self.name!r} has no instructions")
        if self.team is not None and self.tools:
            raise ValueError(f"worker {self.name!r} is a team, whose own workers hold the tools")
        return self


class Example(Frozen):
    """A good decomposition, shown to the planner."""

    request: str
    plan: "Plan"


def _read_switch(value: Any) -> Any:
    """Read `on` and `off` as YAML does, which takes them for truth values."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


SPECIALIST = "specialist"
"""The name that every recruited worker bears."""
RESERVED_NAMES = frozenset(
    ("supervisor", "planner", "approval", "monitor", "revise", "synthesizer", "critic")
) | {SPECIALIST, SINGLE_AGENT}
"""Of steps of the graph, and of workers that the program makes."""
SentContent = Literal["nothing", "query", "address", "anything"]
"""What leaves this machine with a call: words to search for, an address to fetch, or anything."""


class OwnTool(Frozen):
    """A tool of the team's own: where it is, what it reads, what it sends outside."""

    folder: Path | None = None
    """None for a tool that a program passes as an object."""
    reads: tuple[TaintLabel, ...] = ("private", "untrusted")
    sends: SentContent = "anything"

    @property
    def is_declared(self) -> bool:
        """Whether its file declares an access; what is not declared has the least trusted one."""
        return bool(self.model_fields_set - {"folder"})


class DeclaredAccess(Frozen):
    """What the user declares of tools of an MCP server; it counts before the server's own hints."""

    reads: tuple[TaintLabel, ...]
    sends: SentContent
    asks: bool | None = None
    """Whether a human is asked before each call; None: as follows from the rest."""


class Team(Frozen):
    """A supervisor's guidance and the workers it may choose from. No two share a tool."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    description: str
    guidance: str
    """The supervisor's own words for planning, the body of `team.md`."""
    synthesis: str = ""
    """What the synthesizer should mind; from the front matter."""
    contact: str = Field("", max_length=200)
    """Whom to ask for what the team cannot find out; empty: a human who can do it."""
    notice: str = ""
    """Said at the end of every answer, whatever the models write; empty for nothing."""
    strategy: Strategy = "plan"
    routes: dict[str, str] = Field(default_factory=dict)
    """Pinned routes: words that must all be in a request, and the worker that then takes it."""
    plan_when_needed: bool = False
    """With the strategy `route`: plan a request that needs several workers, one after another."""
    prefer_idle: bool = True
    """Prefer an idle worker that may do a task to a busy one, whoever the model chose."""
    workers: tuple[Worker, ...] = Field(min_length=1)
    own_tools: dict[str, OwnTool] = Field(default_factory=dict)
    """Tools of the team's own folder by name; they come before shared tools of the same name."""
    mcp_servers: dict[str, McpServer] = Field(default_factory=dict)
    """The servers of the team's `mcp.json`."""
    access: dict[str, DeclaredAccess] = Field(default_factory=dict)
    """What their tools do, by name or pattern `mcp:SERVER/TOOL`; of several the last one counts."""
    approve: tuple[str, ...] = ()
    """Such tools that ask a human before each call, whatever is declared."""
    examples: tuple[Example, ...] = ()
    planner_tier: Tier = "strong"
    synthesizer_tier: Tier = "standard"
    parameters: dict[Role, dict[str, Any]] = Field(default_factory=dict)
    """Of the requests of a role's model, such as `temperature`, by role."""
    max_tasks: int = Field(32, ge=1, le=1000)
    max_depth: int = Field(8, ge=1, le=100)
    max_steps: int = Field(64, ge=1)
    max_attempts: int = Field(4, ge=1, le=10)
    deadline_s: float | None = Field(None, ge=0, allow_inf_nan=False)
    """Seconds of a run, unless the run says otherwise; None for no limit, as for the next two."""
    max_cost_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    """US dollars of a run, by list prices."""
    max_tokens: int | None = Field(None, ge=0)
    """Tokens in and out of all model calls of a run."""
    max_plan_repairs: int = Field(2, ge=0, le=5)
    ladder: tuple[LadderRung, ...] = ("refine", "tier", "reassign", "split", "assume")
    """What a failed task may be tried again with, in this order; one that cannot apply is skipped.

    `human` is added at the end where the run's context says that a person can be asked.
    """
    max_recursion: int = Field(1, ge=0, le=5)
    """How often a task may be divided into a plan of its own, one inside the other."""
    max_breadth: int = Field(5, ge=2, le=100)
    """Tasks of a plan that divides a task."""
    recruit: bool = False
    """Make a specialist for a task that fits no worker."""
    grant: tuple[str, ...] = ()
    """Tools that specialists may be given; no worker of the team holds one of them."""
    recruit_tier: Tier = "standard"
    max_recruits: int = Field(10, ge=1, le=100)
    """Tasks of one plan that specialists may do."""
    generalist: str = ""
    """Name of the worker for tasks that fit no other; empty for none."""
    max_revisions: int = Field(2, ge=0, le=10)
    """New versions of a plan that findings, or a human's objections, may bring about."""
    max_stalls: int = Field(1, ge=0, le=10)
    """How far the stall counter may rise before findings revise the plan no more.

    A revision that brought nothing new raises it by one, one that did lowers it by one
    (Magentic-One, arXiv 2411.04468, resets it; a slow fall also ends a plan that limps).
    """
    max_plan_reviews: int = Field(5, ge=0, le=100)
    """How often a request's plan may be reviewed after reports that were not as planned."""
    min_confidence: Percent = 30
    """Of a report: below it the task is tried again, and its result is not as planned."""
    approve_plan: bool = False
    """Ask a human before anything runs."""
    approve_above: float | None = Field(None, ge=0, allow_inf_nan=False)
    """US dollars: ask where the plan may cost more, its cost is unknown, or a task has effects."""
    is_held: bool = False
    """Of a run that has a certificate: its plan stays, and each task with its worker."""
    min_finding_confidence: Percent = 80
    """Findings below it are left out of the answer."""
    judge: bool = True
    """Let a model decide between claims that contradict each other, and between attempts."""
    judge_tier: Tier = "strong"
    """Of the judge and of the critic."""
    max_synthesis_chars: int = Field(60_000, ge=2_000)
    """Of all results in the synthesizer's prompt; more are summarised first."""
    critic: Annotated[CriticSwitch, BeforeValidator(_read_switch)] = "off"
    """Review the answer before delivery: never, always, or below a confidence."""
    critic_below: Percent = 70
    """The confidence under which the switch `below` asks the critic."""
    max_critic_rounds: int = Field(1, ge=0, le=5)
    """How often the critic may send tasks back."""
    left_out: tuple[str, ...] = ()
    """What a single agent does not hold of the team that it was; set by code."""

    @model_validator(mode="after")
    def _require_distinct_workers(self) -> Self:
        owners: dict[str, str] = {}
        for worker in self.workers:
            if worker.name in RESERVED_NAMES:
                raise ValueError(f"worker {worker.name!r} has the name of a step of the graph")
            for tool in worker.tools:
                if tool in owners:
                    other = owners[tool]
                    raise ValueError(f"workers {other!r} and {worker.name!r} share tool {tool!r}")
                owners[tool] = worker.name
        for tool in self.grant:
            if tool in owners:
                raise ValueError(f"worker {owners[tool]!r} and the grant share tool {tool!r}")
        names = [worker.name for worker in self.workers]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two workers are named {repeated[0]!r}")
        return self

    @model_validator(mode="after")
    def _require_known_workers(self) -> Self:
        names = {worker.name for worker in self.workers}
        if self.generalist and self.generalist not in names:
            raise ValueError(f"generalist {self.generalist!r} is no worker of the team")
        for worker in self.workers:
            if worker.fallback == worker.name:
                raise ValueError(f"worker {worker.name!r} is its own fallback")
            if worker.fallback and worker.fallback not in names:
                raise ValueError(
                    f"fallback {worker.fallback!r} of {worker.name!r} is no worker of the team"
                )
            if wrong := [each for each in worker.needs if each not in names - {worker.name}]:
                raise ValueError(f"{worker.name!r} needs {wrong[0]!r}, no other worker of the team")
        return self

    @property
    def roster(self) -> tuple[Worker, ...]:
        """All who may be given a task: the workers, and a specialist where the team recruits."""
        return (*self.workers, self.specialist) if self.recruit else self.workers

    @property
    def specialist(self) -> Worker:
        """The worker that is made for a task; before, with all tools of the grant."""
        return Worker(
            name=SPECIALIST,
            description="Is made for one task that fits nobody else; never for what others do.",
            instructions="Do the task.",
            tools=self.grant,
            tier=self.recruit_tier,
        )

    def apply_context(self, context: Context) -> "Team":
        """Return the team with the strategy, the critic and the grant that a run's context sets."""
        grant = tuple(dict.fromkeys(context.recruit or ()))
        chosen: dict[str, Any] = {
            "strategy": context.strategy,
            "critic": context.critic,
            "grant": grant,
            "recruit": bool(grant),
        }
        update = {name: how for name, how in chosen.items() if how}
        team = self.model_copy(update=update) if update else self
        team = become_single(team) if team.strategy == "single" else team
        return team if context.certificate is None else team.hold()

    def hold(self) -> "Team":
        """Return the team of a run that has a certificate: no task is added or changes hands."""
        ladder = tuple(rung for rung in self.ladder if rung not in ("reassign", "split"))
        held = {"is_held": True, "ladder": ladder, "max_revisions": 0, "prefer_idle": False}
        return self.model_copy(update=held)

    def drop_needs(self, reports: Sequence[Report]) -> Self:
        """Return the team without the needs that reports from before the plan already meet."""
        done = {report.worker for report in reports if report.status == "completed"}
        workers = (
            worker.model_copy(update={"needs": tuple(n for n in worker.needs if n not in done)})
            for worker in self.workers
        )
        return self.model_copy(update={"workers": tuple(workers)})

    def add_caps(self, context: Context) -> Context:
        """Return the context with the team's deadline and budget where the run sets none."""
        own = {name: getattr(self, name) for name in ("deadline_s", "max_cost_usd", "max_tokens")}
        return replace(context, **{n: cap for n, cap in own.items() if getattr(context, n) is None})

    def find_declared_access(self, tool: str) -> DeclaredAccess | None:
        """Return what the user declares of a server's tool; None for nothing."""
        found = [each for pattern, each in self.access.items() if matches_pattern(tool, pattern)]
        return found[-1] if found else None

    def get_parameters(self, role: Role) -> Mapping[str, Any]:
        """Return the parameters of a role's requests."""
        return self.parameters.get(role, {})

    def find_worker(self, name: str) -> Worker:
        """Find a worker of the roster by name.

        Raises:
            KeyError: the team has no such worker.
        """
        for worker in self.roster:
            if worker.name == name:
                return worker
        raise KeyError(name)
