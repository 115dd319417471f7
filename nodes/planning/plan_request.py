"""What every step of planning needs: the state and the settings of the run, its team and models."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.limits.deadline import count_steps_left
from nodes.limits.run_scope import RunScope, get_run_scope
from nodes.models.catalog import EMBEDDED, AvailableModels, ModelCatalog
from nodes.models.run_context import TextListener
from nodes.planning.certificates import PlannedRun, describe_run
from nodes.planning.request import read_earlier_requests
from nodes.schemas.handoff import InnerRequestValues, get_beside
from nodes.schemas.team import Team
from state import Context, Expense, Plan, Purpose, SupervisorState, Usage, enter_expenses

DescribeDatabase = Callable[[], Awaitable[str]]
"""Returns the tables that tools of the team can query, a line each; empty without a database."""


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """A request to plan, to plan again, or to take one step further."""

    state: SupervisorState
    config: RunnableConfig
    runtime: Runtime[Context]
    team: Team
    models: ModelCatalog
    describe_database: DescribeDatabase | None = None
    """None where a plan is changed: what it reads is named in it."""
    read_text: TextListener | None = None
    """Hears the reply of the planner while it is written."""

    @property
    def context(self) -> Context:
        """The settings of the run."""
        return self.runtime.context

    @property
    def scope(self) -> RunScope:
        """The clock, the budget and the given plan of the run."""
        return get_run_scope(self.config)

    @property
    def request(self) -> str:
        """The text of the request."""
        return self.state["request"]

    @property
    def words(self) -> str:
        """The request, or of a task of a team the words of the user that it is about."""
        inner = get_beside(InnerRequestValues)
        return inner.words if inner else self.request

    @property
    def before(self) -> str:
        """What the user asked before in the thread."""
        return read_earlier_requests(self.state)

    @property
    def materials(self) -> Mapping[str, str]:
        """The texts that come with the request, by name."""
        return self.state.get("materials", {})

    @property
    def max_tasks(self) -> int:
        """The limit for the tasks of the plan."""
        return self.context.max_tasks or self.team.max_tasks

    @property
    def is_by_rule(self) -> bool:
        """Whether the built-in model plans."""
        return self.models.get_name(self.team.planner_tier, self.context) == EMBEDDED

    def describe_run(self, plan: Plan) -> PlannedRun:
        """Return what the certificate of a plan follows from."""
        return describe_run(self.state, plan, self.team, self.models, self.context)

    def count_steps_left(self) -> int:
        """Return the attempts that the step cap still allows."""
        return count_steps_left(self.state, self.context, self.team)

    def get_planners(self) -> AvailableModels:
        """Return the planner's model, and those that take over."""
        parameters = self.team.get_parameters("planner")
        return self.models.get_available_models(self.team.planner_tier, self.context, parameters)

    def bill(
        self, purpose: Purpose, usage: Usage, *, attempt: int = 1, round: int = 0
    ) -> dict[str, Expense]:
        """Return the entry of the ledger for calls of the planner."""
        spent = Expense(
            worker="supervisor",
            tier=self.team.planner_tier,
            usage=usage,
            purpose=purpose,
            attempt=attempt,
            round=round,
        )
        return enter_expenses(spent)
