"""The metrics of a row, of its plan and of its run, by name."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from extensions.evals.exam import ExamRow, ExpectedFinding, is_found_in
from graph.runs.event_log import Event
from graph.runs.outcome import Outcome
from nodes.errors import SupervisorError
from nodes.text.counts import join_names
from nodes.text.markdown import format_answer
from state import COMPLETE_STATUSES, Answer, Finding, Plan, Report, Strategy


@dataclass
class RowUsage:
    """Counts the usage of a row, from the events of its run."""

    repairs: int = 0
    """Plans that were rejected before the first accepted one."""
    by_rule: int = 0
    """Plans that a rule made, as no valid one came."""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None if the price of a model is unknown."""
    seconds: float = 0.0
    _is_planned: bool = False

    def count_event(self, event: Event) -> None:
        """Add an event."""
        kind = event.get("kind")
        self.repairs += kind == "plan_rejected" and not self._is_planned
        self.by_rule += kind == "plan_by_rule"
        self._is_planned |= kind == "plan_created"
        if kind == "model_call":
            self.calls += 1
            self.input_tokens += event.get("input_tokens") or 0
            self.output_tokens += event.get("output_tokens") or 0
            price = event.get("cost_usd", 0.0)
            known = price is not None and self.cost_usd is not None
            self.cost_usd = self.cost_usd + price if known else None


@dataclass(frozen=True, kw_only=True)
class RowResult:
    """The result of a row, from which its grades are computed."""

    plan: Plan | None = None
    outcome: Outcome | None = None
    """None for a row that was only planned, or could not begin."""
    error: SupervisorError | None = None
    materials: Mapping[str, str] = field(default_factory=dict)
    usage: RowUsage = field(default_factory=RowUsage)
    missed: str | None = None
    """What a replay did not find in its record, empty for nothing; None for a run."""

    @property
    def answer(self) -> Answer | None:
        """The answer, if there is one."""
        return self.outcome.answer if self.outcome else None

    @property
    def answer_text(self) -> str:
        """The answer as the command line prints it; empty without one."""
        return format_answer(self.answer.model_dump(mode="json")) if self.answer else ""

    @property
    def sources(self) -> Sequence[str]:
        """The sources that the answer names."""
        return self.answer.sources if self.answer else ()

    @property
    def reports(self) -> Sequence[Report]:
        """The reports of the run's tasks."""
        return [*self.outcome.results.values()] if self.outcome else []

    @property
    def status(self) -> str:
        """Return how the run ended; one that could not begin has failed."""
        return self.outcome.status if self.outcome else "failed"

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON, for `--json` and for the traces of an exam."""
        error = self.error.format_line() if self.error else None
        plan = self.plan.model_dump(mode="json") if self.plan else None
        ended = {"status": self.status, "answer": self.answer_text} if self.outcome else {}
        return {"plan": plan, **ended, "error": error}


Item = TypeVar("Item")
MAX_NAMED: Final = 5
"""Limit for the missing items named in a comment."""


@dataclass(frozen=True)
class Score:
    """The value of one metric, 0 to 1, and what was missing."""

    value: float
    comment: str = ""


def score_share(
    wanted: Collection[Item], is_met: Callable[[Item], bool], complaint: str
) -> Score | None:
    """Return the share of wanted items that are met; None if nothing is wanted."""
    if not wanted:
        return None
    missing = [item for item in wanted if not is_met(item)]
    names = (" → ".join(item) if isinstance(item, tuple) else str(item) for item in missing)
    value = 1 - len(missing) / len(wanted)
    return Score(value, f"{complaint} {join_names(names, MAX_NAMED)}" if missing else "")


BY_RULE: Final = "the plan was made by rule"


def score_valid_plan(row: ExamRow, trial: RowResult) -> Score | None:
    """Return whether a plan passed the checks; a row that must fail needs none.

    One that a rule made, after those of a model were refused, is not the model's.
    """
    if trial.plan is None and row.expect.status == "failed":
        return None
    if trial.plan is None:
        return Score(0.0, str(trial.error) if trial.error else "no plan")
    return Score(0.0, BY_RULE) if trial.plan.is_by_rule else Score(1.0, "")


def score_valid_at_once(row: ExamRow, trial: RowResult) -> Score | None:
    """Return whether the first plan was valid, without a repair."""
    if trial.plan is None:
        return score_valid_plan(row, trial) and Score(0.0, "no plan")
    repairs = trial.usage.repairs
    return Score(float(not repairs), f"{repairs} rejected" if repairs else "")


def score_routing(row: ExamRow, trial: RowResult, *, is_exact: bool) -> Score | None:
    """Return whether the request reached all expected workers; if exact, no others."""
    wanted = set(row.expect.workers)
    if not wanted:
        return None
    used = list_workers(trial.plan)
    missing, extra = sorted(wanted - used), sorted(used - wanted) if is_exact else []
    comments = [f"without {join_names(missing, MAX_NAMED)}"] if missing else []
    comments += [f"went to {join_names(extra, MAX_NAMED)}"] if extra else []
    comments = [BY_RULE] if trial.plan and trial.plan.is_by_rule else comments
    return Score(float(not comments), ", ".join(comments))


def score_edge_recall(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of the expected edges that the plan has."""
    if row.expect.edges and trial.plan and trial.plan.is_by_rule:
        return Score(0.0, BY_RULE)
    return score_share(row.expect.edges, list_edges(trial.plan).__contains__, "no edge")


def score_precision(made: Collection[Item], wanted: Collection[Item]) -> Score | None:
    """Return the share of what a plan has that is expected; None where nothing is."""
    return score_share(made, wanted.__contains__, "not expected:") if wanted else None


def list_workers(plan: Plan | None) -> set[str]:
    """Return the workers of a plan."""
    return {task.worker for task in plan.tasks} if plan else set()


def list_edges(plan: Plan | None) -> set[tuple[str, str]]:
    """Return the edges of a plan as pairs of workers: the needed one, the dependant."""
    if plan is None:
        return set()
    owner = {task.id: task.worker for task in plan.tasks}
    return {(owner[edge.task], task.worker) for task in plan.tasks for edge in task.depends_on}


def score_facts(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of the golden facts that the answer has."""
    text = trial.answer_text
    return score_share(row.expect.facts, lambda fact: is_found_in(fact, text), "not in the answer:")


def score_citations(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of valid citations, if an answer is expected.

    A source that the answer names must be a material or the source of a claim; a claim must be
    proved.
    """
    if row.expect.expects_refusal:
        return None
    done = [report for report in trial.reports if report.status == "completed"]
    claims = [claim for report in done for claim in report.claims]
    known = {*trial.materials, *(claim.source for claim in claims)}
    held = [(source, source in known) for source in trial.sources]
    held += [(claim.source, claim.proof != "unproved") for claim in claims if claim.proof]
    if not held:
        return None
    false = sorted({source for source, holds in held if not holds})
    value = sum(holds for _, holds in held) / len(held)
    return Score(value, f"not valid: {join_names(false, MAX_NAMED)}" if false else "")


def score_findings(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of the expected findings that the answer has."""
    found = trial.answer.findings if trial.answer else ()
    return score_share(
        row.expect.findings,
        lambda wanted: any(matches_finding(wanted, finding) for finding in found),
        "not found:",
    )


def score_completion(row: ExamRow, trial: RowResult) -> Score | None:
    """Return whether a run that must lack nothing did so; `done`, where expected, is no less."""
    if row.expect.needs_only_a_plan or row.expect.expects_refusal:
        return None
    if trial.status in (("done",) if row.expect.status == "done" else COMPLETE_STATUSES):
        return Score(1.0)
    return Score(0.0, str(trial.error) if trial.error else f"ended {trial.status}")


def score_refusal(row: ExamRow, trial: RowResult) -> Score | None:
    """Return whether a request that must not be answered was escalated, or ended as expected.

    If `partial` is expected, an answer that no task found anything is accepted too.
    """
    expect = row.expect
    if not expect.expects_refusal:
        return None
    reasons = sorted({each.escalation.reason for each in trial.reports if each.escalation})
    if expect.escalation and expect.escalation not in reasons:
        return Score(
            0.0, f"refused as {join_names(reasons, MAX_NAMED)}" if reasons else "not refused"
        )
    has_found_nothing = trial.status == "failed" and trial.answer_text
    ended = {trial.status, "partial"} if has_found_nothing else {trial.status}
    if expect.status and expect.status not in ended:
        return Score(0.0, f"ended {trial.status}")
    return Score(1.0)


def score_parallelism(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the critical path over the wall time; None if nothing could be saved.

    That is so if the plan is one chain, or no task waited for anything outside the process.
    """
    timing, plan = trial.outcome.timing if trial.outcome else {}, trial.plan
    if plan is None or len(plan.tasks) <= plan.measure_depth() or timing.get("speedup") is None:
        return None
    return Score(min(1.0, timing["critical_path_s"] / timing["wall_s"]))


def matches_finding(wanted: ExpectedFinding, finding: Finding) -> bool:
    """Return whether a finding matches every given field of the expected one."""
    return (
        wanted.file in ("", finding.file)
        and wanted.line in (None, finding.line)
        and wanted.severity in (None, finding.severity)
        and (not wanted.message or is_found_in(wanted.message, finding.message))
    )


@dataclass(frozen=True)
class Metric:
    """A measure of the rows to which it applies."""

    meaning: str
    measure: Callable[[ExamRow, RowResult], Score | None] | None = None
    """None if it needs more than the row and its result."""
    is_counted: bool = True
    """False, hence informational, if another metric implies it, or it depends on timing."""


METRICS: Final[Mapping[str, Metric]] = {
    "routing": Metric("all expected workers are in the plan"),
    "edge_recall": Metric("expected edges that the plan has", score_edge_recall),
    "facts": Metric("golden facts that the answer has", score_facts),
    "sources": Metric(
        "expected sources that the answer names",
        lambda row, trial: score_share(
            row.expect.sources, trial.sources.__contains__, "not cited:"
        ),
    ),
    "citations": Metric("sources that exist, claims that are proved", score_citations),
    "findings": Metric("expected findings that the answer has", score_findings),
    "completed": Metric("ended with a complete answer, as expected", score_completion),
    "refused": Metric("not answered, as expected", score_refusal),
    "judged": Metric("meets the row's criterion, as the strong model judges"),
    "valid_plan": Metric("a plan that passes the checks", score_valid_plan, False),
    "valid_at_once": Metric("the first plan, without a repair", score_valid_at_once, False),
    "worker_recall": Metric(
        "expected workers in the plan",
        lambda row, trial: score_share(
            row.expect.workers, list_workers(trial.plan).__contains__, "without"
        ),
        False,
    ),
    "worker_precision": Metric(
        "the plan's workers, expected",
        lambda row, trial: score_precision(sorted(list_workers(trial.plan)), row.expect.workers),
        False,
    ),
    "edge_precision": Metric(
        "the plan's edges, expected",
        lambda row, trial: score_precision(sorted(list_edges(trial.plan)), row.expect.edges),
        False,
    ),
    "parallelism": Metric("critical path over wall time", score_parallelism, False),
}

PLAN_METRICS: Final = frozenset(
    ("routing", "edge_recall", "valid_plan", "valid_at_once", "worker_recall", "worker_precision")
) | {"edge_precision", "parallelism"}
"""About plans, which a single agent does not make."""


def score_by_metrics(
    row: ExamRow, trial: RowResult, strategy: Strategy = "plan"
) -> dict[str, Score]:
    """Score a row by every metric that applies to it: none to a run that left its record."""
    if trial.missed:
        return {}
    measures = {name: metric.measure for name, metric in METRICS.items() if metric.measure}
    measures["routing"] = partial(score_routing, is_exact=strategy == "route")
    unmade = PLAN_METRICS if strategy == "single" else frozenset[str]()
    found = {
        name: measures[name](row, trial) for name in METRICS if name in measures.keys() - unmade
    }
    return {name: score for name, score in found.items() if score is not None}
