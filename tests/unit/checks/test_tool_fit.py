import pytest

from nodes.planning.tool_fit import explain_misfit
from nodes.schemas.team import Team, Worker
from state import Task
from tests.benchmarks.vagueness.measure import HALVES, read_descriptions
from tests.plan_payloads import TEAM


def find_misfit(description: str, worker: str, team: Team = TEAM) -> str | None:
    task = Task(id="T1", description=description, worker=worker)
    return explain_misfit(task, team.find_worker(worker), team)


def make_team_with(*tools: str, description: str = "Does things.") -> Team:
    helper = Worker(name="helper", description=description, instructions="Do.", tools=tools)
    return TEAM.model_copy(update={"workers": (*TEAM.workers, helper)})


@pytest.mark.parametrize(
    ("description", "worker", "able"),
    [
        ("Search the web for the founding year of Bosch", "writer", "researcher"),
        ("Fetch https://example.com/prices and list the prices", "writer", "researcher"),
        ("Query the database for revenue by region", "writer", "analyst"),
    ],
)
def test_a_task_is_refused_that_another_worker_has_the_tool_for(
    description: str, worker: str, able: str
) -> None:
    assert f"give it to {able}" in (find_misfit(description, worker) or "")
    assert find_misfit(description, able) is None


@pytest.mark.parametrize(
    "description",
    [
        "Send an email to legal@example.com with the margin",
        "Deploy the pricing service to production",
        "Book a flight to Oslo on 3 May",
        "Call the customer and confirm the address",
    ],
)
def test_a_task_outside_every_workers_tools_is_refused(description: str) -> None:
    assert "no worker of the team" in (find_misfit(description, "writer") or "")


@pytest.mark.parametrize(
    "description",
    [
        "Draft an email to the customer about the refund",
        "Write a deployment checklist for the pricing service",
        "Compute the book value per share of Bosch",
        "Book value of Bosch per share for 2023",
        "Pay gap between nurses and doctors in Leeds, by year",
        "Explain how to call the REST API from Rust",
        "Summarize the sources of T1 on web search",
    ],
)
def test_words_of_a_capability_in_another_role_are_no_reason_to_refuse(description: str) -> None:
    assert find_misfit(description, "writer") is None


@pytest.mark.parametrize("tool", ["acme.crm:outreach", "crm", "gateway"])
def test_tools_with_meaningless_names_are_not_held_against_a_task(tool: str) -> None:
    team = make_team_with(tool)

    assert find_misfit("Send an email to legal@example.com with the margin", "helper", team) is None


def test_a_worker_whose_description_offers_the_capability_is_believed() -> None:
    team = make_team_with(description="Sends mail on behalf of the company.")

    assert find_misfit("Send an email to legal@example.com with the margin", "helper", team) is None


def test_good_tasks_are_refused_only_where_nobody_could_do_them() -> None:
    refused = [
        item.text
        for half in HALVES
        for item in read_descriptions(half)
        if item.label == "good"
        and all(find_misfit(item.text, worker.name) for worker in TEAM.workers)
    ]

    assert all(text.split()[0] in ("Book", "Deploy", "Roll", "Run") for text in refused), refused
