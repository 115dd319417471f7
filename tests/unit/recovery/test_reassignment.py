"""Who else may take a task."""

from nodes.limits.worker_load import get_team_load
from nodes.recovery.reassignment import list_candidates
from nodes.schemas.team import SPECIALIST, Team
from state import EscalationReason
from tests.node_samples import make_task
from tests.teams import make_team


def make_crew(name: str, **fields: object) -> Team:
    """Make a team whose first worker has a fallback; its name keeps its load apart."""
    team = make_team("clerk", "analyst", "drafter", name=name, **fields)
    clerk = team.workers[0].model_copy(update={"fallback": "drafter"})
    return team.model_copy(update={"workers": (clerk, *team.workers[1:])})


def list_names(
    team: Team, reason: EscalationReason | None = "out_of_scope", message: str = ""
) -> list[str]:
    task = make_task("A", "clerk")
    return list(list_candidates(task, team.workers[0], team, reason=reason, message=message))


def test_the_fallback_goes_before_a_worker_that_the_message_names():
    assert list_names(make_crew("crew_one"), message="Ask the analyst.") == ["drafter", "analyst"]


def test_a_recruiting_team_offers_a_specialist_last_and_only_out_of_scope():
    team = make_crew("crew_two", recruit=True, recruit_tier="fast")

    assert list_names(team)[-1] == SPECIALIST
    assert list_names(team, None) == ["drafter"]


def test_each_candidate_brings_its_own_tier():
    team = make_crew("crew_three", recruit=True, recruit_tier="fast")

    found = list_candidates(make_task("A", "clerk"), team.workers[0], team, reason="out_of_scope")

    assert found["drafter"] == "standard" and found[SPECIALIST] == "fast"


def test_an_idle_worker_goes_before_a_busy_one_where_the_team_prefers_it():
    team = make_crew("crew_four")
    patient = team.model_copy(update={"prefer_idle": False})

    with get_team_load(team).count_attempt("drafter", None):
        assert list_names(team, message="Ask the analyst.") == ["analyst", "drafter"]
        assert list_names(patient, message="Ask the analyst.") == ["drafter", "analyst"]
