"""The vocabulary, the states of both graphs, and their reducers. Imports nothing of ours.

Checkpoints store these classes by module and name, so a rename here is a migration.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal, Self

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

Tier = Literal["fast", "standard", "strong"]
RunStatus = Literal["running", "done", "partial", "needs_input", "failed"]
ReportStatus = Literal["completed", "failed", "skipped", "escalated"]
EscalationReason = Literal["out_of_scope", "ambiguous_input", "confidence_too_low", "timeout"]
Aggregation = Literal["merge", "select", "reduce"]
Fault = Literal["content", "permanent"]
"""Of an attempt: the work was not good enough; or another attempt would meet the same wall."""
Rung = Literal["refine", "tier", "reassign", "split", "human"]
RungName = Annotated[Rung, BeforeValidator(lambda rung: "human" if rung == "person" else rung)]
"""A rung as a team's file names it: `person` is the former name of `human`."""
"""What the next attempt at a task changes: its words, the model, the worker, its size, what is
known of it."""
Strategy = Literal["plan", "route", "step", "recursive"]
"""How a team's supervisor works: a whole plan; one worker or two; one worker after another; a plan
whose larger tasks are planned again."""
TaintLabel = Literal["private", "untrusted"]
"""What has been read: the user's own data; text from untrusted sources."""
Severity = Literal["critical", "high", "medium", "low", "info"]

PrevailingClaim = Literal["first", "second", "neither", "both", "undecided"]
"""Which of two claims is right; both, when they are about different matters."""
CriticSwitch = Literal["off", "on", "below"]

NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""Of seconds, of money."""
Percent = Annotated[int, Field(ge=0, le=100)]
TaskId = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9_.\-]+$")]


class _Frozen(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", coerce_numbers_to_str=True, use_attribute_docstrings=True
    )


class Usage(_Frozen):
    """What one call, task or run has cost."""

    model_calls: int = Field(0, ge=0)
    input_tokens: int = Field(0, ge=0)
    """As the endpoint reports them, or estimated from the texts where it reports none."""
    output_tokens: int = Field(0, ge=0)
    cost_usd: float | None = 0.0
    """From the price table of the day; None when a model's price is not known."""
    seconds: float = Field(0.0, ge=0)
    """Time spent waiting for models and tools, summed over calls, not wall time."""
    models: tuple[str, ...] = ()
    """Names of the models that answered, in order of first use."""
    uncounted_calls: int = Field(0, ge=0)
    """Calls whose endpoint reported no tokens; theirs are estimated."""

    def __add__(self, other: "Usage") -> "Usage":
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            model_calls=self.model_calls + other.model_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            seconds=self.seconds + other.seconds,
            models=tuple(dict.fromkeys(self.models + other.models)),
            uncounted_calls=self.uncounted_calls + other.uncounted_calls,
        )


class Estimate(_Frozen):
    """What a run is expected to cost, said when its plan is made."""

    model_calls: int = Field(0, ge=0)
    input_tokens: int = Field(0, ge=0)
    output_tokens: int = Field(0, ge=0)
    cost_usd: float | None = 0.0
    """None when a model's price is not known."""


class RunUsage(Usage):
    """The usage of a whole run, also by worker, by model tier, and by what calls were for."""

    by_worker: dict[str, Usage] = Field(default_factory=dict)
    by_tier: dict[str, Usage] = Field(default_factory=dict)
    by_mechanism: dict[str, int] = Field(default_factory=dict)
    """Model calls by purpose: `plan`, `work` and `synthesis` are the N+2, all others beyond it."""
    estimate: Estimate | None = None
    """What was expected when the plan was made."""


Purpose = Literal[
    "plan",
    "revision",
    "step",
    "work",
    "refine",
    "recruit",
    "inner team",
    "judge",
    "select",
    "reduce",
    "synthesis",
    "critic",
    "cut off",
    "not ended",
    "lost",
]


class Expense(_Frozen):
    """One entry of the run's ledger: who spent, on which tier, how much, and what for."""

    worker: str
    tier: Tier
    usage: Usage
    purpose: Purpose = "work"
    task: str = ""
    """Empty for what the supervisor's own nodes spent."""
    attempt: int = 1
    """Of the task; of a plan its version, of a step its number."""
    round: int = 0
    """Of the critic; of a revision that failed, the reports that there were."""
    inner: str = ""
    """The entry in the ledger of the nested team that did the task."""
    reopenings: int = 0
    """How often the request was reopened since."""

    @property
    def key(self) -> str:
        """Return the entry's name, the same for the same spending; no code reads it back."""
        fields = (self.reopenings, self.purpose, self.task, self.attempt, self.round, self.tier)
        return ":".join(map(str, (*fields, self.inner)))


def enter_expenses(*expenses: Expense) -> dict[str, Expense]:
    """Return ledger entries by their keys."""
    return {expense.key: expense for expense in expenses}


class Limits(_Frozen):
    """Caps of one worker."""

    max_turns: int = Field(10, ge=1, le=50)
    """Model turns in one attempt; the last one may only report."""
    timeout_s: float = Field(120.0, gt=0, allow_inf_nan=False)
    """Seconds of one attempt, tools included; waiting for other tasks is not counted."""
    max_tokens: int = Field(16_000, ge=64)
    """Tokens, input and output together, that one attempt may use before it must report."""


TEAM_LIMITS = Limits(timeout_s=600.0, max_tokens=1_000_000)
"""Of a worker that is a team, unless it says otherwise."""


class Worker(_Frozen):
    """A specialist: one narrow instruction and its own tools; or another team."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    description: str = Field(min_length=1)
    """What the planner reads when it chooses."""
    instructions: str = ""
    """What the worker's model reads; for a team, what its supervisor reads with each request."""
    team: "Team | None" = None
    """The team that does this worker's tasks, each as a request of its own."""
    tools: tuple[str, ...] = ()
    """Names of tool files in `nodes/tools`, or `package.module:attribute`."""
    tier: Tier = "standard"
    fallback: str = ""
    """Name of the worker that takes a task this one failed at; empty for none."""
    notice: str = ""
    """Said at the end of every answer that this worker had a part in; empty for nothing."""
    limits: Limits = Limits()

    @model_validator(mode="before")
    @classmethod
    def _apply_team_limits(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("team") and not value.get("limits"):
            return {**value, "limits": TEAM_LIMITS}
        return value

    @model_validator(mode="after")
    def _require_instructions_or_team(self) -> Self:
        if self.team is None and not self.instructions.strip():
            raise ValueError(f"worker {self.name!r} has no instructions")
        if self.team is not None and self.tools:
            raise ValueError(f"worker {self.name!r} is a team, whose own workers hold the tools")
        return self


class Recruit(_Frozen):
    """A specialist made for one task that fits no worker of the team."""

    role: str = ""
    """What it is, in two or three words."""
    instructions: str = Field(min_length=1, max_length=4000)
    """One narrow instruction: how such work is done well, and what its result holds."""
    tools: tuple[str, ...] = ()
    """Those of the granted tools that the task needs, and no others."""


class Example(_Frozen):
    """A good decomposition, shown to the planner."""

    request: str
    plan: "Plan"


def _read_switch(value: Any) -> Any:
    """Read `on` and `off` as YAML does, which takes them for truth values."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


SPECIALIST = "specialist"
"""The name that every recruited worker bears."""
RESERVED_NAMES = frozenset({"supervisor", "approval", "synthesizer", "critic", SPECIALIST})


class Team(_Frozen):
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
    prefer_idle: bool = True
    """Prefer an idle worker that may do a task to a busy one: when routing and reassigning."""
    workers: tuple[Worker, ...] = Field(min_length=1)
    examples: tuple[Example, ...] = ()
    planner_tier: Tier = "strong"
    synthesizer_tier: Tier = "standard"
    max_tasks: int = Field(32, ge=1, le=1000)
    max_depth: int = Field(8, ge=1, le=100)
    max_steps: int = Field(64, ge=1)
    max_attempts: int = Field(3, ge=1, le=10)
    max_plan_repairs: int = Field(2, ge=0, le=5)
    ladder: tuple[RungName, ...] = ("refine", "tier", "reassign")
    """What a failed task may be tried again with, in this order."""
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
    approve_plan: bool = False
    """Ask a human before anything runs."""
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
        return self

    @property
    def roster(self) -> tuple[Worker, ...]:
        """All who may be given a task: the workers, and a specialist where the team recruits."""
        if not self.recruit:
            return self.workers
        specialist = Worker(
            name=SPECIALIST,
            description="Is made for one task that fits nobody else; never for what others do.",
            instructions="Do the task.",
            tools=self.grant,
            tier=self.recruit_tier,
        )
        return (*self.workers, specialist)

    def find_worker(self, name: str) -> Worker:
        """Find a worker of the roster by name.

        Raises:
            KeyError: the team has no such worker.
        """
        for worker in self.roster:
            if worker.name == name:
                return worker
        raise KeyError(name)


class Dependency(_Frozen):
    """An edge of the plan: the task needs the result of another one."""

    task: TaskId
    """Id of the task whose result is needed."""
    required: bool = True
    """False: the task runs without the result when that one fails."""


class Task(_Frozen):
    """One piece of work for one worker."""

    id: TaskId
    description: str = Field(min_length=1, max_length=4000)
    """What to do: names the object of the work and a result that can be checked."""
    worker: str = Field(min_length=1, max_length=40)
    """Name of the worker that does it."""
    depends_on: tuple[Dependency, ...] = ()
    """Tasks whose results this one needs."""
    materials: tuple[str, ...] = ()
    """Names of the request's materials that the worker must see."""
    is_compound: bool = False
    """True: too large for one worker; it is divided into a plan of its own when its turn comes."""

    @field_validator("depends_on", mode="before")
    @classmethod
    def _read_bare_ids(cls, value: Any) -> Any:
        if value is None:
            return ()
        if isinstance(value, str | int | dict):
            value = [value]
        if not isinstance(value, list | tuple):
            return value
        return [{"task": item} if isinstance(item, str | int) else item for item in value]

    @field_validator("depends_on")
    @classmethod
    def _drop_duplicate_dependencies(cls, value: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        return tuple(dict.fromkeys(value))

    @field_validator("materials", mode="before")
    @classmethod
    def _read_bare_name(cls, value: Any) -> Any:
        if value is None:
            return ()
        return [value] if isinstance(value, str) else value


class Plan(_Frozen):
    """A graph of tasks. One that holds a cycle or a dangling edge cannot be built."""

    goal: str = Field(min_length=1, max_length=4000)
    """The request in one sentence, as understood."""
    tasks: tuple[Task, ...] = Field(min_length=1)
    aggregation: Aggregation = "merge"
    """How the results become one answer."""
    final_instruction: str = ""
    """What the synthesizer should make of the results."""
    version: SkipJsonSchema[int] = Field(1, ge=1)
    """Set by the supervisor: 1 for the first plan of a thread, then counting up."""

    @model_validator(mode="after")
    def _require_valid_graph(self) -> Self:
        if problems := list(_list_structural_problems(self.tasks)):
            raise ValueError("; ".join(problems))
        return self

    def order_tasks(self) -> tuple[Task, ...]:
        """Return the tasks in topological order; those of equal rank as the plan lists them."""
        by_id = {task.id: task for task in self.tasks}
        edges = {task.id: [edge.task for edge in task.depends_on] for task in self.tasks}
        return tuple(by_id[name] for name in TopologicalSorter(edges).static_order())

    def measure_depth(self) -> int:
        """Count the tasks on the longest chain of dependencies."""
        depths: dict[str, int] = {}
        for task in self.order_tasks():
            depths[task.id] = 1 + max((depths[edge.task] for edge in task.depends_on), default=0)
        return max(depths.values())


MAX_REPORTED_CYCLES = 5


def _list_structural_problems(tasks: tuple[Task, ...]) -> list[str]:
    known = Counter(task.id for task in tasks)
    problems = [f"duplicate task id {name!r}" for name, count in known.items() if count > 1]
    for task in tasks:
        wanted = Counter(edge.task for edge in task.depends_on)
        for name, times in wanted.items():
            if name == task.id:
                problems.append(f"task {task.id!r} depends on itself")
            elif name not in known:
                what = f"task {task.id!r} depends on {name!r}, which is no task of the plan"
                problems.append(what)
            if times > 1:
                problems.append(f"task {task.id!r} both requires {name!r} and does not")
    return [f"cycle: {' -> '.join(names)}" for names in _find_cycles(tasks)] + sorted(problems)


def _find_cycles(tasks: tuple[Task, ...]) -> Iterator[list[str]]:
    """Find cycles that share no task, as many as are worth telling at once."""
    edges = {task.id: [e.task for e in task.depends_on if e.task != task.id] for task in tasks}
    for _ in range(MAX_REPORTED_CYCLES):
        try:
            TopologicalSorter(edges).prepare()
        except CycleError as error:
            found = error.args[1][::-1]
            yield found
            edges = {name: needs for name, needs in edges.items() if name not in found}
        else:
            return


class Claim(_Frozen):
    """A statement that a worker found, and its source."""

    text: str = Field(min_length=1)
    source: str = ""
    """Name of a material, a document, an URL, a table; empty for the worker's own reasoning."""
    quote: str = ""
    """Words of the source that carry the claim, verbatim."""
    confidence: Percent = 80


class Finding(_Frozen):
    """A defect or remark about one place."""

    severity: Severity
    message: str = Field(min_length=1)
    file: str = ""
    line: int | None = Field(None, ge=1, le=2**31)
    suggestion: str = ""
    confidence: Percent = 80


class MergedFinding(Finding):
    """A finding of one or several reports, once."""

    reporters: tuple[str, ...] = ()
    """Ids of the tasks that reported it, sorted."""


class Escalation(_Frozen):
    """Why a worker hands its task back."""

    reason: EscalationReason
    message: str
    """What the worker would need to continue."""
    partial: str = ""
    """What it has found nevertheless."""


class Report(_Frozen):
    """What came of one task. A worker's failure is a report, never an exception."""

    task: SkipJsonSchema[str] = ""
    worker: SkipJsonSchema[str] = ""
    status: ReportStatus = "completed"
    output: str = ""
    """The result in words."""
    claims: tuple[Claim, ...] = ()
    """Each figure and statement of fact in the output, with its source."""
    findings: tuple[Finding, ...] = ()
    """Defects and remarks, where the task asks for them."""
    confidence: Percent = 80
    """How sure the worker is of the output, 0 to 100."""
    escalation: Escalation | None = None
    """Only when the task cannot be done as it is."""
    gaps: tuple[str, ...] = ()
    """What is missing from the output, or is for a human to judge, though the task is done."""
    invalidates: str = ""
    """Why the work planned after this task no longer makes sense; empty while it does."""
    is_partial: SkipJsonSchema[bool] = False
    """The output lacks something that the task asked for: what `failures` lists, or, where a
    team did the task, in `gaps`. Set by code, whatever a model says."""
    failures: SkipJsonSchema[tuple[str, ...]] = ()
    """What tools could not do and no later call made good, and which materials were cut when they
    were read; each is among the gaps too. Set by code."""
    taint_labels: SkipJsonSchema[tuple[TaintLabel, ...]] = ()
    """What those who did the task have read; set by code, whatever a model says."""
    addresses: SkipJsonSchema[tuple[str, ...]] = ()
    """Addresses that searches of the task found, which those who need it may fetch."""
    error: SkipJsonSchema[str | None] = None
    attempts: SkipJsonSchema[int] = Field(1, ge=0)
    usage: SkipJsonSchema[Usage] = Usage()
    started_s: SkipJsonSchema[float] = 0.0
    """Seconds from the run's start to the first attempt, waiting for inputs not included."""
    ended_s: SkipJsonSchema[float] = 0.0


class Constraints(_Frozen):
    """What a handoff allows."""

    max_tokens: int
    timeout_s: float
    tier: Tier


class TeamRecord(_Frozen):
    """What of a team a run depends on; a path such as `outer/inner` leads into a team within it."""

    strategies: dict[str, str] = Field(default_factory=dict)
    """By the path of each `team.md`."""
    tools: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """By the path of each worker; of one that is a team, the team."""
    words: dict[str, str] = Field(default_factory=dict)
    """Checksums of all else that a team's files say, by their paths."""


class Handoff(_Frozen):
    """All that a worker sees of the run."""

    model_config = ConfigDict(populate_by_name=True)

    task: str
    sender: str = Field("supervisor", alias="from")
    to: str
    intent: str
    """The task's description."""
    context: tuple[Report, ...] = ()
    """Results of the task's own dependencies."""
    artifacts: dict[str, str] = Field(default_factory=dict)
    """The task's materials, name to text."""
    constraints: Constraints
    return_to: str = "supervisor"


class Origin(_Frozen):
    """Whose words a run or a task is made of: what may go outside whatever was read since."""

    user_text: str = ""
    """The user's own words: this request, and the earlier ones of the thread."""
    trusted_text: str = ""
    """Words of others that were chosen before anything private was read."""
    taint_labels: tuple[TaintLabel, ...] = ("private", "untrusted")
    """What was read by those who wrote the tasks; all labels where it is unknown."""
    addresses: tuple[str, ...] = ()
    """Addresses that searches found before."""
    public: tuple[str, ...] = ()
    """Names of the materials that hold nothing private."""


class Decision(_Frozen):
    """Who takes a request, or who goes next."""

    worker: str = ""
    """Name of the worker best suited."""
    secondary: str = ""
    """A second worker, only when the request needs both; when routing."""
    task: str = ""
    """What the worker is to do; when stepping."""
    reason: str = ""
    """Why this one."""
    is_done: bool = False
    """True when the results answer the request; when stepping."""


class Refinement(_Frozen):
    """A failed task, rewritten from its error."""

    description: str = Field(min_length=1, max_length=4000)
    """The task in new words: more specific, or by another approach. The goal stays the same."""
    reason: str = ""
    """What went wrong, and how the new words avoid it."""


class Attempt(_Frozen):
    """One try at a task: what was asked, what came back, what it cost."""

    description: str
    report: Report | None = None
    error: str | None = None
    fault: Fault | None = None
    taint_labels: tuple[TaintLabel, ...] = ()
    """What was read in it, also where it came to nothing."""
    usage: Usage = Usage()
    ledger: dict[str, Expense] = Field(default_factory=dict)
    """The same by entry, where a team made the attempt."""
    worker: str = ""
    tier: Tier = "standard"
    rung: Rung | None = None
    """What it changed; None for a first attempt."""


class RecoveryAction(_Frozen):
    """How the next attempt at a task differs from the last one."""

    rung: Rung
    worker: str
    tier: Tier


class Timing(_Frozen):
    """What parallel work bought, measured. All in seconds of the run's own time."""

    wall_s: float
    """From the request to the answer."""
    sequential_s: float
    """The same steps one after another: planning, every task, the answer."""
    critical_path_s: float
    """Planning, the longest chain of tasks that needed each other, the answer."""
    speedup: float
    """`sequential_s / wall_s`."""
    critical_path: tuple[str, ...]
    """The steps of that chain."""
    bounded_by: str
    """What would have to be faster for the run to be faster."""


class Contradiction(_Frozen):
    """Two claims that cannot both hold."""

    subject: str
    claims: tuple[Claim, ...] = Field(min_length=2)
    verdict: str = ""
    """Which side holds and why, or that it cannot be decided."""


class ClaimVerdict(_Frozen):
    """The judge's word on one pair of claims."""

    pair: int
    """The number of the pair, as given."""
    holds: PrevailingClaim = "undecided"
    """Which claim holds; both when they are about different matters and do not contradict."""
    reason: str = ""
    """What decides it: the better source, the quote, the period; or what is missing to decide."""


class Verdict(_Frozen):
    """The judge's decision."""

    rulings: tuple[ClaimVerdict, ...] = ()
    """One for each pair of claims, when pairs are given."""
    best: str = ""
    """Id of the task with the best result, when attempts at one task are given."""
    reason: str = ""
    """Why that one is best."""


class Rework(_Frozen):
    """A task that the critic sends back."""

    task: str
    """Id of a task of the plan."""
    fix: str = Field(validation_alias=AliasChoices("fix", "mend"))
    """What its worker must do otherwise."""


class Critique(_Frozen):
    """A review of the answer against the request."""

    accepted: bool
    """False when the answer must not be delivered as it is."""
    problems: tuple[str, ...] = ()
    """What is wrong with the answer; empty when it is accepted."""
    send_back: tuple[Rework, ...] = ()
    """Tasks whose results must be fixed, only where a new synthesis would not help."""


class Answer(_Frozen):
    """What the user gets."""

    text: str = Field(min_length=1)
    """The answer in Markdown, with the sources named where they are used."""
    confidence: Percent = 80
    gaps: tuple[str, ...] = ()
    """What the results leave open."""
    contradictions: tuple[Contradiction, ...] = ()
    sources: tuple[str, ...] = ()
    """The sources the text relies on, named as the reports name them."""
    findings: SkipJsonSchema[tuple[MergedFinding, ...]] = ()
    """Merged, filtered and ranked from the reports; not written by a model."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """Settings of one run. None means: as the team or the environment says."""

    # Forms such as Studio's show the docstrings of the fields.
    __pydantic_config__ = ConfigDict(use_attribute_docstrings=True)

    deadline_s: NonNegative | None = None
    """Seconds from the run's start; then the run answers with what it has."""
    max_cost_usd: NonNegative | None = None
    """US dollars, by list prices; then the run answers with what it has."""
    max_tokens: Annotated[int, Field(ge=0)] | None = None
    """Tokens in and out of all model calls; then the run answers with what it has."""
    max_steps: Annotated[int, Field(ge=0)] | None = None
    """Attempts at tasks, over the whole run."""
    max_tasks: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Tasks of a plan."""
    max_attempts: Annotated[int, Field(ge=1, le=10)] | None = None
    """Attempts at one task."""
    max_concurrency: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Model calls in flight."""
    approve_plan: bool = False
    """Show the plan and wait for a human before anything of it runs."""
    model_fast: str | None = None
    """Model of the fast tier: `provider:model`, or `embedded`."""
    model_standard: str | None = None
    """Model of the standard tier: `provider:model`, or `embedded`."""
    model_strong: str | None = None
    """Model of the strong tier: `provider:model`, or `embedded`."""


def merge_results(left: Mapping[str, Report], right: Mapping[str, Report]) -> dict[str, Report]:
    """Keep one report per task: the one with more attempts, then the later one."""
    merged = {**left, **right}
    for name in left.keys() & right.keys():
        merged[name] = max(left[name], right[name], key=_rank_report)
    return merged


def _rank_report(report: Report) -> tuple[int, float, str]:
    return report.attempts, report.ended_s, report.model_dump_json()


def merge_plans(left: tuple[Plan, ...], right: tuple[Plan, ...]) -> tuple[Plan, ...]:
    """Keep one plan per version, in order; of two with one version, the larger as JSON."""
    merged: dict[int, Plan] = {}
    for plan in (*left, *right):
        kept = merged.setdefault(plan.version, plan)
        merged[plan.version] = max(kept, plan, key=Plan.model_dump_json)
    return tuple(merged[version] for version in sorted(merged))


def merge_steps(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    """Count attempts per task; of two counts for one task, the higher."""
    merged = {**left, **right}
    return merged | {name: max(left[name], right[name]) for name in left.keys() & right.keys()}


def merge_ledger(left: Mapping[str, Expense], right: Mapping[str, Expense]) -> dict[str, Expense]:
    """Keep one expense per entry: the one that counts more calls, then the larger as JSON."""
    merged = {**left, **right}
    for name in left.keys() & right.keys():
        merged[name] = max(
            left[name],
            right[name],
            key=lambda entry: (entry.usage.model_calls, entry.model_dump_json()),
        )
    return merged


def merge_attempts(left: Mapping[str, Attempt], right: Mapping[str, Attempt]) -> dict[str, Attempt]:
    """Keep one attempt per number; of two with one number, the larger as JSON."""
    merged = {**left, **right}
    for number in left.keys() & right.keys():
        merged[number] = max(left[number], right[number], key=Attempt.model_dump_json)
    return merged


class RequestInput(TypedDict, total=False):
    """What a caller gives: a request in words, or a chat whose last human message is one."""

    request: Annotated[str, Field(description="What to do, in words.")]
    messages: Annotated[
        list[AnyMessage],
        Field(description="A chat instead: its last human message is the request."),
        add_messages,
    ]
    materials: Annotated[dict[str, str], Field(description="Documents to work on: name to text.")]


class SupervisorState(RequestInput, total=False):
    """The state of a run."""

    planned_for: str
    """The request that the plan belongs to."""
    given: tuple[Report, ...]
    """Results that came with the request, from the team that asked."""
    origin: Origin
    """Whose words the tasks of the plan are."""
    team_record: TeamRecord
    """The team that the plan was made for."""
    plan: Plan | None
    plans: Annotated[tuple[Plan, ...], merge_plans]
    results: Annotated[dict[str, Report], merge_results]
    steps: Annotated[dict[str, int], merge_steps]
    """Attempts per task: what the step cap counts; survives a resume."""
    todo: tuple[str, ...]
    """Ids of the tasks to send now; with none, the answer is written."""
    awaits_approval: bool
    """The plan is shown to a human before anything of it runs."""
    objection: str
    """Why the human rejected the plan; empty when it was accepted."""
    stop_reason: str
    """Why stepping ended before the request was answered; empty when it was."""
    revisions: int
    """Versions after the first that this request has brought about."""
    stalls: int
    """The stall counter: up with each revision that brought nothing new, down with one that did."""
    completed_at_last_revision: int
    """How many tasks were completed at the last revision."""
    answered_objections: tuple[str, ...]
    """Tasks whose word against the plan has been answered by a revision."""
    reports_at_last_dispatch: int
    """How many reports there were at the last dispatch: one that adds none is the last."""
    max_attempts: int
    steps_left: int
    """Attempts that the step cap still allowed at the last dispatch."""
    ledger: Annotated[dict[str, Expense], merge_ledger]
    """By `Expense.key`."""
    answer: Answer | None
    drafted: RunStatus
    """What the run ends as when the critic lets the answer pass; it is `running` until then."""
    critic_rounds: int
    """How often the critic has sent tasks back."""
    notes: dict[str, str]
    """What a task that was sent back must fix, by its id."""
    results_before_rework: dict[str, Report]
    """Complete results that were sent back; they are used again where the new attempt fails."""
    status: RunStatus
    usage: RunUsage
    estimate: Estimate
    asked_s: float
    """When the request was read, and the plan made: seconds on the run's clock."""
    planned_s: float
    timing: Timing


def require_plan(state: SupervisorState) -> Plan:
    """Return the plan of a request that has been planned."""
    plan = state["plan"]
    assert plan is not None, "the supervisor plans before anything else reads the plan"
    return plan


def reset_for_new_request() -> SupervisorState:
    """Return the channels that an earlier request of the thread has filled, emptied."""
    return {
        # A reducer would keep what was there.
        "results": Overwrite({}),  # type: ignore[typeddict-item]
        "steps": Overwrite({}),  # type: ignore[typeddict-item]
        "ledger": Overwrite({}),  # type: ignore[typeddict-item]
        "answer": None,
        "results_before_rework": {},
        "awaits_approval": False,
        "objection": "",
        "completed_at_last_revision": 0,
        "answered_objections": (),
        **_reset_counters(),
    }


def reopen_request(results: Mapping[str, Report], spent: Iterable[Expense]) -> SupervisorState:
    """Return the channels of a request that is tried again, with the results that it keeps."""
    earlier = (each.model_copy(update={"reopenings": each.reopenings + 1}) for each in spent)
    return {
        "results": Overwrite(dict(results)),  # type: ignore[typeddict-item]
        "steps": Overwrite({}),  # type: ignore[typeddict-item]
        "ledger": Overwrite(enter_expenses(*earlier)),  # type: ignore[typeddict-item]
        **_reset_counters(),
    }


def _reset_counters() -> SupervisorState:
    return {
        "status": "running",
        "stop_reason": "",
        "revisions": 0,
        "stalls": 0,
        "critic_rounds": 0,
        "notes": {},
        "reports_at_last_dispatch": -1,
    }


class Assignment(TypedDict, total=False):
    """What a worker's node is sent."""

    task: Task
    materials: dict[str, str]
    """Only the task's own."""
    given: tuple[Report, ...]
    """Results that came with the request, for a task that depends on none of its own team's."""
    origin: Origin
    is_dispensable: bool
    """Others want the result, and none of them needs it."""
    known: dict[str, Report]
    """Reports of the task's dependencies that ended in an earlier superstep."""
    max_attempts: int
    steps_left: int
    """Attempts the step cap still allows to the whole dispatch."""


class WorkerState(Assignment, total=False):
    """The state of one task while a worker has it."""

    inputs: dict[str, Report]
    released: bool
    """True when an input will not come in this dispatch: the task goes back as it was."""
    description: str
    """The task's words for the next attempt; refinement changes them."""
    attempts: Annotated[dict[str, Attempt], merge_attempts]
    """Keyed by attempt number, from "1"."""
    problem: str
    """What was wrong with the last attempt, in words for the next one."""
    recruit: Recruit
    """The specialist that was made for the task; absent while there is none."""
    change: RecoveryAction
    """What the next attempt does differently; absent before the first one."""
    answers: dict[str, str]
    """What a human answered to the questions of this task: question to answer."""
    started_s: float
    results: Annotated[dict[str, Report], merge_results]
    steps: Annotated[dict[str, int], merge_steps]
    ledger: Annotated[dict[str, Expense], merge_ledger]


class WorkerOutput(TypedDict, total=False):
    """What a worker's node gives back."""

    results: Annotated[dict[str, Report], merge_results]
    steps: Annotated[dict[str, int], merge_steps]
    ledger: Annotated[dict[str, Expense], merge_ledger]
