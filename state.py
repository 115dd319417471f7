"""The vocabulary, the states of both graphs, and their reducers. Imports nothing of ours.

Checkpoints store these classes by module and name, so a rename here is a migration.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from math import isnan
from operator import not_
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from langgraph.graph.ui import AnyUIMessage, ui_message_reducer
from langgraph.types import Overwrite
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
    with_config,
)
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

_Merged = TypeVar("_Merged", bound=BaseModel)
Tier = Literal["fast", "standard", "strong"]
RunStatus = Literal["running", "done", "passages", "partial", "needs_input", "failed"]
"""What a run is at, or ended as; `passages`: documents are quoted, which no model has read."""
COMPLETE_STATUSES: Final[tuple[RunStatus, ...]] = ("done", "passages")
"""Of runs that lack nothing."""
FINAL_STATUSES: Final[tuple[RunStatus, ...]] = (*COMPLETE_STATUSES, "partial", "failed")
"""Of runs that continue only where they are reopened, or a new request is sent."""
ReportStatus = Literal["completed", "failed", "skipped", "escalated"]
EscalationReason = Literal["out_of_scope", "ambiguous_input", "confidence_too_low", "timeout"]
Aggregation = Literal["merge", "select", "reduce"]
Fault = Literal["content", "form", "model", "worker", "permanent"]
"""Of an attempt: the work was not good enough; the reply was cut, unreadable or late; or the same
model, the same worker, or any worker would fail again."""
LadderRung = Literal["refine", "tier", "reassign", "split", "human", "assume"]
"""What the next attempt at a task changes: its words, the model, the worker, its size, what is
known of it."""
Rung = Literal[LadderRung, "form"]
"""The same, or, outside of a ladder, the task as it is, asked for again."""
Strategy = Literal["plan", "route", "step", "recursive", "single"]
"""How a team's supervisor works: a whole plan; one worker or two; one worker after another; a plan
whose larger tasks are planned again; not at all, since one agent holds all tools."""
CriticSwitch = Literal["off", "on", "below"]
"""When a critic reviews the answer: never, always, or below the team's confidence."""
TaintLabel = Literal["private", "untrusted"]
"""What has been read: the user's own data; text from untrusted sources."""
Severity = Literal["critical", "high", "medium", "low", "info"]
Proof = Literal["quoted", "computed", "returned", "stated", "unproved"]
"""Of a claim: its source has it; it follows by a step of arithmetic; a tool returned it; no source
was there to look into; or what it says was not found."""


NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""Of seconds, of money."""
Percent = Annotated[int, Field(ge=0, le=100)]


def _read_confidence(value: Any) -> int | None:
    """Return a confidence as a model writes it: 85, 0.85 and "85 %" are one, "high" is unknown.

    1 is on the scale from 0 to 1.
    """
    try:
        text = str(value).strip()
        for unit in ("%", "percent", "/100", "of 100"):
            text = text.removesuffix(unit).strip()
        number = float("nan" if isinstance(value, bool) else text)
    except ValueError:
        return None
    is_share = 0 < number <= 1
    limited = min(max(100 * number if is_share else number, 0.0), 100.0)
    return None if isnan(number) else round(limited)


Confidence = Annotated[
    int | None,
    BeforeValidator(_read_confidence),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 100}),
]
"""Of what a model says: 0 to 100, or None where it gave none that can be read."""


def _read_bare_names(value: Any) -> Any:
    """Return names as a model writes them: one alone, or none, as a list."""
    return () if value is None else [value] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_read_bare_names)]
TaskId = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9_.\-]+$")]


class Frozen(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", coerce_numbers_to_str=True, use_attribute_docstrings=True
    )


class Usage(Frozen):
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
    waited_s: float = Field(0.0, ge=0)
    """Wall time in which a task waited for models and tools outside the process, and the process
    had nothing to compute."""
    overlapped_s: float = Field(0.0, ge=0)
    """Of `waited_s`, what parallel work saved: summed over tasks, the time less that of one."""

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
            waited_s=self.waited_s + other.waited_s,
            overlapped_s=self.overlapped_s + other.overlapped_s,
        )


class Amounts(Frozen):
    """What a run may take, all in all."""

    model_calls: int = Field(0, ge=0)
    input_tokens: int = Field(0, ge=0)
    output_tokens: int = Field(0, ge=0)
    cost_usd: float | None = 0.0
    """None when a model's price is not known."""
    seconds: NonNegative = 0.0
    """Wall time from the request to the answer; 0 of a run of an earlier release."""


class Estimate(Amounts):
    """What a run is expected to take, said when its plan is made."""

    low: Amounts | None = None
    """Each amount is between this one and `high` in 9 of 10 runs."""
    high: Amounts | None = None
    runs: int = Field(0, ge=0)
    """Earlier runs of the team that it rests on; without any it is made of constants."""
    models: dict[Tier, str] = Field(default_factory=dict)
    """That it is made for, by tier."""
    simulated: dict[str, tuple[float, float, float]] = Field(default_factory=dict)
    """Of simulated runs the 5th, 50th and 95th percentile, by amount; by the runs before they were
    corrected to what is said above."""


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
    "route",
    "revision",
    "plan review",
    "surprise check",
    "step",
    "work",
    "refine",
    "recruit",
    "inner team",
    "judge",
    "select",
    "second look",
    "reduce",
    "synthesis",
    "critic",
    "speculation",
    "cut off",
    "not ended",
    "lost",
]


class Expense(Frozen):
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


class Recruit(Frozen):
    """A specialist made for one task that fits no worker of the team."""

    role: str = ""
    """What it is, in two or three words."""
    instructions: str = Field(min_length=1, max_length=4000)
    """One narrow instruction: how such work is done well, and what its result holds."""
    tools: tuple[str, ...] = ()
    """Those of the granted tools that the task needs, and no others."""


class Dependency(Frozen):
    """An edge of the plan: the task needs the result of another one."""

    task: TaskId
    """Id of the task whose result is needed."""
    required: bool = True
    """False: the task runs without the result when that one fails."""


class Task(Frozen):
    """One piece of work for one worker."""

    id: TaskId
    description: str = Field(min_length=1, max_length=4000)
    """What to do: names the object of the work and a result that can be checked."""
    worker: str = Field(min_length=1, max_length=40)
    """Name of the worker that does it."""
    depends_on: tuple[Dependency, ...] = ()
    """Tasks whose results this one needs."""
    materials: Names = ()
    """Names of the request's materials that the worker must see."""
    tier: Tier | None = None
    """Model tier for this task, one that its worker's card names; null: the worker's own."""
    is_compound: bool = False
    """True: too large for one worker; it is divided into a plan of its own when its turn comes."""
    covers: Names = ()
    """The parts of the request that the task answers, each quoted verbatim."""

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
    def _drop_duplicates(cls, value: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        return tuple(dict.fromkeys(value))

    @property
    def asked(self) -> str:
        """The words of the request that it answers, as one text; empty where none are named."""
        text = ""
        for words in self.covers:
            link = " " if text[-1:] in ".?!" else ", "
            text += f"{link if text else ''}{words}"
        return text


class Plan(Frozen):
    """A graph of tasks. One that holds a cycle or a dangling edge cannot be built."""

    goal: str = Field(min_length=1, max_length=4000)
    """The request in one sentence, as understood."""
    tasks: tuple[Task, ...] = Field(min_length=1)
    aggregation: Aggregation = "merge"
    """How the results become one answer."""
    final_instruction: str = ""
    """What the synthesizer should make of the results."""
    untaken: SkipJsonSchema[tuple[str, ...]] = ()
    """Parts of the request, in its words, that no task covers; each is a gap of the answer."""
    rule_reason: SkipJsonSchema[str] = ""
    """Set by the supervisor where a rule made the plan: what was wrong with those of the model."""
    version: SkipJsonSchema[int] = Field(1, ge=1)
    """Set by the supervisor: 1 for the first plan of a thread, then counting up."""

    @model_validator(mode="after")
    def _require_valid_graph(self) -> Self:
        if problems := list(_list_structural_problems(self.tasks)):
            raise ValueError("; ".join(problems))
        return self

    @property
    def is_by_rule(self) -> bool:
        """Whether a rule made the plan, as the planner's model gave no valid one."""
        return bool(self.rule_reason)

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


class Claim(Frozen):
    """A statement that a worker found, its source by name, and the passage of it, verbatim."""

    text: str = Field(min_length=1)
    source: str = ""
    quotation: str = Field("", validation_alias=AliasChoices("quotation", "quote"))
    confidence: SkipJsonSchema[Confidence] = None
    proof: SkipJsonSchema[Proof | None] = None
    """How code found it; None for a claim that was not checked."""
    doubt: SkipJsonSchema[str] = ""
    """Why it is unproved."""


class Finding(Frozen):
    """A defect or remark about one place."""

    severity: Severity
    message: str = Field(min_length=1)
    file: str = ""
    line: int | None = Field(None, ge=1, le=2**31)
    suggestion: str = ""
    confidence: Confidence = None
    """0 to 100: how sure."""


class MergedFinding(Finding):
    """A finding of one or several reports, once."""

    reporters: tuple[str, ...] = ()
    """Ids of the tasks that reported it, sorted."""


class Escalation(Frozen):
    """Why a worker hands its task back, what it needs, and what it has found."""

    reason: EscalationReason
    message: str
    partial: str = ""


class Report(Frozen):
    """What came of one task."""

    task: SkipJsonSchema[str] = ""
    worker: SkipJsonSchema[str] = ""
    status: ReportStatus = "completed"
    output: str = ""
    claims: tuple[Claim, ...] = ()
    findings: tuple[Finding, ...] = ()
    """Defects, where the task asks for them."""
    confidence: Confidence = None
    """0 to 100."""
    escalation: Escalation | None = None
    """Only if the task cannot be done."""
    gaps: tuple[str, ...] = ()
    """What is missing, or for a human to judge."""
    found_as_expected: bool | None = None
    """False if what the task asks about is not there, or is another thing."""
    is_partial: SkipJsonSchema[bool] = False
    """The output lacks something that the task asked for: what `failures` lists, or, where a
    team did the task, in `gaps`. Set by code, whatever a model says."""
    failures: SkipJsonSchema[tuple[str, ...]] = ()
    """What tools could not do and no later call made good, and which materials were cut when they
    were read; each is among the gaps too. Set by code."""
    has_found_claims: SkipJsonSchema[bool] = False
    """Its worker made no claims: these are sentences of the output that code found."""
    left_open: SkipJsonSchema[tuple[str, ...]] = Field((), exclude_if=not_)
    """Words of its task that no tool could read, in a run without a model. Set by code; left out
    where there are none, so that the hash of an older report stays."""
    gaps_of_parts: SkipJsonSchema[tuple[str, ...]] = Field((), exclude_if=not_)
    """Gaps that are whole parts of its task, which another task may answer. Set as `left_open`."""
    is_unread: SkipJsonSchema[bool] = False
    """It quotes passages that no language model has read. Set by code."""
    lacks_file: SkipJsonSchema[bool] = False
    """A tool had nothing to read, and no tool answered. Set by code."""
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

    def is_doubtful(self, min_confidence: int) -> bool:
        """Return whether it is completed and less confident than it must be, 0 to 100.

        One of unknown confidence is not.
        """
        if self.status != "completed" or self.confidence is None:
            return False
        return self.confidence < min_confidence


class TeamRecord(Frozen):
    """What of a team a run depends on; a path such as `outer/inner` leads into a team within it."""

    strategies: dict[str, str] = Field(default_factory=dict)
    """By the path of each `team.md`."""
    tools: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """By the path of each worker; of one that is a team, the team."""
    words: dict[str, str] = Field(default_factory=dict)
    """Checksums of all else that a team's files say, by their paths."""


class Origin(Frozen):
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


class Attempt(Frozen):
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


class RecoveryAction(Frozen):
    """How the next attempt at a task differs from the last one."""

    rung: Rung
    worker: str
    tier: Tier


class Timing(Frozen):
    """What parallel work bought, measured. All in seconds of the run's own time."""

    wall_s: float
    """From the request to the answer."""
    planning_s: float = 0.0
    """Until the plan was made; a part of `wall_s`."""
    sequential_s: float
    """`wall_s`, and what tasks waited at the same time for models and tools outside the process.
    One task at a time takes about as long, or longer."""
    critical_path_s: float
    """Planning, the longest chain of tasks that needed each other, the answer."""
    speedup: float | None = None
    """`sequential_s / wall_s`; None where no task waited for anything outside the process."""
    critical_path: tuple[str, ...]
    """The steps of that chain."""
    bounded_by: str
    """What would have to be faster for the run to be faster."""


class Contradiction(Frozen):
    """Two claims that cannot both hold."""

    subject: str
    claims: tuple[Claim, ...] = Field(min_length=2)
    verdict: str = ""
    """Which side holds and why, or that it cannot be decided."""


class Answer(Frozen):
    """What the user gets."""

    text: str
    """The answer in Markdown, with the sources named where they are used; empty with `report`."""
    report: str = ""
    """Only with an empty text: the id of the task whose result is the whole answer."""
    confidence: Confidence = None
    """0 to 100; at most that of the least confident report that the answer uses."""
    gaps: tuple[str, ...] = ()
    """What the results leave open."""
    unanswered: Names = ()
    """Each part of the request that no result answers, in the request's words; often none."""
    contradictions: tuple[Contradiction, ...] = ()
    sources: tuple[str, ...] = ()
    """The sources the text relies on, named as the reports name them."""
    claims: SkipJsonSchema[tuple[Claim, ...]] = ()
    """Those of the reports, each with its proof, and what only the text says. Set by code."""
    unrated: SkipJsonSchema[tuple[str, ...]] = ()
    """Ids of the tasks whose reports it uses and whose confidence is unknown. Set by code."""
    is_unread: SkipJsonSchema[bool] = False
    """It quotes passages that no language model has read or judged. Set by code."""
    findings: SkipJsonSchema[tuple[MergedFinding, ...]] = ()
    """Merged, filtered and ranked from the reports; not written by a model."""
    language: SkipJsonSchema[str] = "en"
    """ISO 639-1 code of the request's language, in which the program words what it adds. Set by
    code."""

    @model_validator(mode="after")
    def _require_text(self) -> Self:
        if not (self.text.strip() or self.report.strip()):
            raise ValueError("write the text, or name the task whose report is the answer")
        return self


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
    approve_above: NonNegative | None = None
    """US dollars: do so where the plan may cost more, its cost is unknown, or a task has effects.
    """
    certificate: dict[str, Any] | None = None
    """A plan's certificate: no other plan is run, and nothing that is outside of it."""
    ask_human: bool = False
    """A human can be asked about a task that failed or is unclear, when nothing else is left."""
    speculate: bool | None = None
    """Begin first model calls of tasks while the planner still writes; what is not used is billed.
    """
    sequential: bool = False
    """Run one task at a time, in the order of the dependencies."""
    strategy: Strategy | None = None
    """How the supervisor works: a whole plan, one worker or two, one step after another, a plan
    whose larger tasks are planned again (recursive), or no plan but one agent (single)."""
    recruit: Annotated[tuple[str, ...], Field(max_length=64)] | None = None
    """Tools that specialists made for this run may be given; none: as the team says."""
    critic: CriticSwitch | None = None
    """When a critic reviews the answer: never, always, or below the team's confidence."""
    model_fast: str | None = None
    """Model of the fast tier: `provider:model`, or `embedded`."""
    model_standard: str | None = None
    """Model of the standard tier: `provider:model`, or `embedded`."""
    model_strong: str | None = None
    """Model of the strong tier: `provider:model`, or `embedded`."""


def _keep_higher(
    kind: type[_Merged], left: _Merged, right: _Merged, rank: Callable[[_Merged], Any]
) -> _Merged:
    """Return the one of higher rank; equal ones, which most updates bring, are not ranked.

    A server that shows a state reads it, and its writes, as JSON.
    """
    if left is right or left == right:
        return left
    both = (each if isinstance(each, kind) else kind.model_validate(each) for each in (left, right))
    return max(both, key=rank)


def _merge_maps(
    kind: type[_Merged], rank: Callable[[_Merged], Any]
) -> Callable[[Mapping[str, _Merged], Mapping[str, _Merged]], dict[str, _Merged]]:
    """Return a reducer that keeps one value by key: of two the one of higher rank."""

    def merge(left: Mapping[str, _Merged], right: Mapping[str, _Merged]) -> dict[str, _Merged]:
        both = left.keys() & right.keys()
        kept = {key: _keep_higher(kind, left[key], right[key], rank) for key in both}
        return {**left, **right, **kept}

    return merge


merge_results: Final = _merge_maps(Report, lambda r: (r.attempts, r.ended_s, r.model_dump_json()))
"""Keeps one report per task: the one with more attempts, then the later one."""
merge_ledger: Final = _merge_maps(Expense, lambda e: (e.usage.model_calls, e.model_dump_json()))
"""Keeps one expense per entry: the one that counts more calls, then the larger as JSON."""
merge_attempts: Final = _merge_maps(Attempt, Attempt.model_dump_json)
"""Keeps one attempt per number; of two with one number, the larger as JSON."""


def merge_plans(left: tuple[Plan, ...], right: tuple[Plan, ...]) -> tuple[Plan, ...]:
    """Keep one plan per version, in order; of two with one version, the larger as JSON."""
    merged: dict[int, Plan] = {}
    for each in (*left, *right):
        plan = each if isinstance(each, Plan) else Plan.model_validate(each)
        kept = merged.setdefault(plan.version, plan)
        merged[plan.version] = _keep_higher(Plan, kept, plan, Plan.model_dump_json)
    return tuple(merged[version] for version in sorted(merged))


def replace_materials(_left: Mapping[str, str], right: dict[str, str]) -> dict[str, str]:
    """Return the newer materials; several answers to one dispatch may each bring some."""
    return right


def merge_steps(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    """Count attempts per task; of two counts for one task, the higher."""
    merged = {**left, **right}
    return merged | {name: max(left[name], right[name]) for name in left.keys() & right.keys()}


@with_config(use_attribute_docstrings=True)
class RequestInput(TypedDict, total=False):
    """What a caller gives: a request in words, or a chat whose last human message is one."""

    request: str
    """What the team should do, in words; a question or an instruction."""
    messages: Annotated[list[AnyMessage], add_messages]
    """A chat instead of `request`: its last human message is the request, and files attached to it
    become materials."""
    materials: Annotated[dict[str, str], replace_materials]
    """Documents to work on: the name of each, such as `sales.csv`, to text."""


REOPENED: Final = ""
"""As `planned_for`: the request is planned once more, and what it has cost so far still counts."""


TodoStatus = Literal["pending", "in_progress", "completed"]


class Todo(TypedDict):
    """A task of the plan, as chat interfaces show it."""

    id: str
    content: str
    status: TodoStatus


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
    assigned: dict[str, str]
    """Who does a task in place of the busy worker that the plan names, by the task's id."""
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
    doubts: dict[str, str]
    """Why tasks that wait make no sense after a report, by the id of its task, as reviewed."""
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
    todos: tuple[Todo, ...]
    ui: Annotated[list[AnyUIMessage], ui_message_reducer]


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
        "assigned": {},
        "awaits_approval": False,
        "objection": "",
        "completed_at_last_revision": 0,
        "answered_objections": (),
        "doubts": {},
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
    """Only the task's own. Not saved: an attempt finds them in the run's scope."""
    given: tuple[Report, ...]
    """Results that came with the request, for a task that depends on none of its own team's."""
    origin: Origin
    is_dispensable: bool
    """Others want the result, and none of them needs it."""
    known: dict[str, Report]
    """Reports of the task's dependencies that ended in an earlier superstep."""
    max_attempts: int
    plan_version: int
    """Of the plan that the task was sent from."""
    steps_left: int
    """Attempts the step cap still allows to the whole dispatch."""


class WorkerOutput(TypedDict, total=False):
    """What a worker's node gives back; of a task that it held, no attempts and no report."""

    results: Annotated[dict[str, Report], merge_results]
    steps: Annotated[dict[str, int], merge_steps]
    ledger: Annotated[dict[str, Expense], merge_ledger]


class WorkerState(Assignment, WorkerOutput, total=False):
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
    assessed_s: float
    """When the last attempt was assessed, in seconds from the run's start."""
