"""The most that a run can spend, by counting: no run within the caps needs more.

Model calls are counted over the graphs, in which each loop has a cap. Tokens and money follow from
the budget, and from what the calls in flight can add when it is spent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, get_args

from extensions.insight.flows import may_grow, may_split
from graph.topology.worker_pool import derive_division_team
from nodes.errors import SupervisorError
from nodes.models.guarded_model import GuardedModel
from nodes.models.lengths import OPENAI_FACTOR
from nodes.models.settings import DEFAULT_OUTPUT_TOKENS, EMBEDDED, OUTPUT_PURPOSES
from nodes.models.usage import BYTES_PER_TOKEN, PER_MILLION, compute_cost_usd
from nodes.planning.certificates import PlannedRun
from nodes.planning.plan_review import MAX_SURPRISE_CHECKS, REVIEW_TIER
from nodes.planning.speculation import MAX_SPECULATIVE_CALLS
from nodes.planning.validation import may_divide
from nodes.schemas.team import Team, Worker
from nodes.synthesis.reduction import MAX_ROUNDS
from state import Context, Frozen, Plan, Tier

MAX_COUNT: Final = 10**15
"""A larger bound is none, and no checkpoint could store it."""
LONGER_RETRY: Final = 4
"""By how much the limit of an answer grows when it was cut."""
TEMPLATE_TOKENS: Final = 4_000
"""Of a prompt: what an endpoint adds to the bytes that it is sent."""
LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict")
"""By which clients call the limit of an answer."""
ASSUMED: Final = (
    "endpoints keep to the limit of an answer, and count at most a token for each byte of a prompt",
    "the run is not killed, resumed or begun again: what was open would be paid again",
    "prices are list prices",
)


class WorstCase(Frozen):
    """Upper bounds; None where there is none, which `unbounded` explains."""

    model_calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    tokens: int | None = None
    """Input and output together."""
    cost_usd: float | None = None
    unbounded: tuple[str, ...] = ()
    """What has no bound, why, and the setting that gives one."""
    assumed: tuple[str, ...] = ASSUMED


class _Count(NamedTuple):
    calls: int = 0
    parallel: int = 0
    """Calls that can be in flight at one time."""
    remote: frozenset[str] = frozenset()
    """Workers that spend on another server."""


def bound_run(run: PlannedRun) -> WorstCase:
    """Return the most that a run of a plan can spend, its planning included."""
    count = _Counter(run).count_run(run.team, run.context, run.plan)
    if count.remote or count.calls > MAX_COUNT:
        why = "teams within teams multiply the calls; set --max-steps (max_steps)"
        if count.remote:
            why = f"{', '.join(sorted(count.remote))}: a worker on another server, with its limits"
        return WorstCase(unbounded=(f"all figures: {why}",))
    return _bound_spending(run, count).model_copy(update={"model_calls": count.calls})


class _Counter:
    """Counts the calls of a team's run, and of those within it."""

    def __init__(self, run: PlannedRun) -> None:
        self._known, self._divisions = dict[tuple[int, int], _Count](), dict[int, Team]()
        self._names = run.models.name_all(run.context)
        self._others = len(set(self._names.values()) - {EMBEDDED})
        """Models that may take over when one cannot be reached, or one more."""

    def count_run(self, team: Team, context: Context, plan: Plan | None = None) -> _Count:
        """Return the calls of a run; without a plan, of any plan that the team may make."""
        steps = team.max_steps if context.max_steps is None else context.max_steps
        if plan is None and (known := self._known.get((id(team), steps))):
            return known
        is_fixed = plan is not None and not may_grow(team)
        size = len(plan.tasks) if plan and is_fixed else context.max_tasks or team.max_tasks
        may_begin = context.speculate is not False and not team.is_held
        begun = min(MAX_SPECULATIVE_CALLS, steps) if may_begin else 0
        reviews = team.max_plan_reviews + 1 + MAX_SURPRISE_CHECKS if may_grow(team) else 0
        work = self._count_work(team, context, plan, size)
        calls = begun + self._count_plans(team, size) + work.calls + self._count_answers(team, size)
        calls += reviews if self._names[REVIEW_TIER] != EMBEDDED else 0
        at_once = max(1 + begun, work.parallel + MAX_SURPRISE_CHECKS + 1, size)
        found = _Count(calls, at_once, work.remote)
        if plan is None:
            self._known[id(team), steps] = found
        return found

    def _count_plans(self, team: Team, size: int) -> int:
        """Return the calls for plans and steps; each may be repaired, late, or made by rule."""
        plan, decision = team.max_plan_repairs + 3 + self._others, 2 + self._others
        revisions = 2 * team.max_revisions + team.max_stalls + 1 if may_grow(team) else 0
        first = {"step": decision * (size + 1) * self._count_rounds(team), "route": decision + plan}
        return first.get(team.strategy, plan) + revisions * plan

    def _count_rounds(self, team: Team) -> int:
        """Return how often an answer may be written."""
        is_asked = team.critic != "off" and self._names[team.judge_tier] != EMBEDDED
        return 1 + (team.max_critic_rounds if is_asked else 0)

    def _count_answers(self, team: Team, size: int) -> int:
        """Return the calls for pairs of claims, findings, summaries, equals, answer and critic."""
        each = 2 + 1 + MAX_ROUNDS * size + size // 2 + 2 + self._others + 1
        return self._count_rounds(team) * each

    def _count_work(self, team: Team, context: Context, plan: Plan | None, size: int) -> _Count:
        """Return the calls of all attempts, with what is asked between them."""
        steps = team.max_steps if context.max_steps is None else context.max_steps
        versions = team.max_revisions if may_grow(team) else 0
        executions = size * (self._count_rounds(team) + versions)
        attempts = min(steps, executions * (context.max_attempts or team.max_attempts))
        # What of the run's caps holds in a run within it.
        within = Context(max_steps=max(1, steps), max_attempts=context.max_attempts)
        each = [self._count_attempt(own, within) for own in list_possible_workers(team, plan)]
        most, part = max(count.calls for count in each), _Count()
        divides = may_divide(team) and (plan is None or any(t.is_compound for t in plan.tasks))
        if divides or may_split(team):
            smaller = self._divisions.setdefault(id(team), derive_division_team(team))
            part = self.count_run(smaller, within)
        # A compound task is divided at each attempt; another one once, after an attempt.
        splits = attempts if divides else min(executions, attempts // 2)
        splits = splits if part.calls > most else 0
        calls = splits * part.calls + (attempts - splits) * most + attempts  # refined, or recruited
        calls += size * (executions + 1) if team.recruit else 0
        widest = max(count.parallel for count in (*each, part))
        remote = part.remote.union(*(count.remote for count in each))
        return _Count(calls, size * widest, remote)

    def _count_attempt(self, worker: Worker, within: Context) -> _Count:
        if worker.remote:
            return _Count(1, 1, frozenset({worker.name}))
        if worker.team:
            return self.count_run(worker.team, within)
        return _Count(worker.limits.max_turns + 1, 1)


def list_possible_workers(team: Team, plan: Plan | None) -> tuple[Worker, ...]:
    """Return the workers that may get a task of a run, at its begin or later."""
    if plan is None or not team.is_held or any(task.is_compound for task in plan.tasks):
        return team.roster
    planned = {task.worker for task in plan.tasks}
    return tuple(worker for worker in team.roster if worker.name in planned)


@dataclass(frozen=True)
class _Model:
    name: str
    limit: int | None
    """Of the tokens of an answer; None if it is unknown."""
    prices: tuple[float, float, float] | None
    """Of an input token, the lowest and the highest, and of an output token, in US dollars."""


def _bound_spending(run: PlannedRun, count: _Count) -> WorstCase:
    """Return the bounds of tokens and money by the caps.

    When the last call is sent, what is settled and reserved is within the cap. Then each call in
    flight, as many as endpoints are sent at once, has one answer that is larger than what was
    reserved for it: its prompt is estimated at four bytes a token and may count one a byte, its
    answer may have any length to its limit.
    """
    cap, cap_usd = run.context.max_tokens, run.context.max_cost_usd
    models = [
        _describe_model(run, tier, list(_list_parameters(run.team))) for tier in get_args(Tier)
    ]
    paid, why = [each for each in models if each.prices != (0.0, 0.0, 0.0)], list[str]()
    no_limit = next((each for each in models if each.limit is None), None)
    at_once = run.models.settings.max_concurrency
    places = {
        model.endpoint if (model := _get_model(run, tier)) else tier for tier in get_args(Tier)
    }
    at_once = len(places) * min(at_once, run.context.max_concurrency or at_once)
    in_flight = min(count.parallel, at_once)
    longest = LONGER_RETRY * in_flight * max(each.limit or 0 for each in models)
    template = in_flight * TEMPLATE_TOKENS
    read, written = (BYTES_PER_TOKEN * (cap or 0) + template, (cap or 0) + longest)
    if cap is None:
        why.append("tokens: set --max-tokens (max_tokens)")
    elif no_limit:
        why.append(f"tokens: {no_limit.name} has no limit for an answer that is known")
    has_tokens, bounds = cap is not None and not no_limit, list[float]()
    if paid and (unpriced := next((each.name for each in paid if each.prices is None), "")):
        why.append(f"money: the price of {unpriced} is unknown; set SUPERVISE_PRICES")
    elif any(each.limit is None for each in paid):
        why.append("money: a model has no limit for an answer that is known")
    elif paid and (cap is None and cap_usd is None):
        why.append("money: set --max-cost (max_cost_usd)")
    elif prices := [each.prices for each in paid if each.prices]:
        high, out = (max(price[at] for price in prices) for at in (1, 2))
        steepest = max(price[1] / price[0] if price[0] else 1.0 for price in prices)
        flight = template * high + longest * out
        bounds += [] if cap_usd is None else [BYTES_PER_TOKEN * steepest * cap_usd + flight]
        bounds += [] if cap is None else [read * high + written * out]
    cost = round(min(bounds), 6) if bounds else 0.0
    return WorstCase(
        input_tokens=read if has_tokens else None,
        output_tokens=written if has_tokens else None,
        tokens=read + longest if has_tokens else None,
        cost_usd=None if any(reason.startswith("money") for reason in why) else cost,
        unbounded=tuple(why),
    )


def _describe_model(run: PlannedRun, tier: Tier, parameters: list[Mapping[str, Any]]) -> _Model:
    name, prices = run.models.get_name(tier, run.context), run.models.settings.prices
    limit, rates = _find_answer_limit(run, tier, parameters), list[tuple[float, float]]()
    for probe in (1_000, PER_MILLION):  # some prices are higher for long prompts
        given = compute_cost_usd(name, {"input_tokens": probe}, prices)
        both = compute_cost_usd(name, {"input_tokens": probe, "output_tokens": probe}, prices)
        if given is None or both is None:
            return _Model(name, limit, None)
        rates.append((given / probe, (both - given) / probe))
    (low, out), (high, other) = sorted(rates)
    return _Model(name, limit, (low, high, max(out, other)))


def _get_model(run: PlannedRun, tier: Tier) -> GuardedModel | None:
    try:
        model = run.models.get_chat_model(tier, run.context)
    except SupervisorError:
        return None
    return model if isinstance(model, GuardedModel) else None


def _find_answer_limit(
    run: PlannedRun, tier: Tier, parameters: list[Mapping[str, Any]]
) -> int | None:
    if (model := _get_model(run, tier)) is None or model.model == EMBEDDED:
        return None
    own: list[Any] = [getattr(model.inner, name, None) for name in LIMITS]
    if model.kind in ("openai", "compatible"):
        factor = OPENAI_FACTOR if model.kind == "openai" else 1
        chosen = map(model.settings.max_output_tokens.get, OUTPUT_PURPOSES)
        own += [limit or DEFAULT_OUTPUT_TOKENS * factor for limit in chosen]
    asked = [each.get(name) for each in (model.parameters, *parameters) for name in LIMITS]
    known, also = ([n for n in limits if isinstance(n, int)] for limits in (own, asked))
    return max(known + also) if known else None


def _list_parameters(team: Team) -> Iterator[Mapping[str, Any]]:
    """Yield the parameters of all requests of a team, and of those within it."""
    yield from team.parameters.values()
    for worker in team.workers:
        yield worker.parameters
        if worker.team:
            yield from _list_parameters(worker.team)
