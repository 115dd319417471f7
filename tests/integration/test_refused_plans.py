"""Bad plans, played to the whole graph: each is refused with its reason, or repaired."""

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

import pytest

from graph import build_supervisor
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from state import RequestInput
from tests.endpoint import Endpoint, Scenario
from tests.handoffs import list_handoffs, list_planned_tasks
from tests.malformed_plan_payloads import MalformedPlan, list_malformed_plans, make_plan_with_task
from tests.plan_payloads import (
    FAULT_WORDS,
    FAULTS,
    MATERIALS,
    MAX_TASKS,
    TEAM,
    PlanFault,
    PlanJson,
    make_bad_plan,
)

pytestmark = pytest.mark.slow

REQUEST: RequestInput = {
    "request": "Report on the companies.",
    "materials": {name: f"The text of {name}." for name in MATERIALS},
}
CHUNK = 25


def make_faulty_plan(seed: int, *faults: PlanFault) -> MalformedPlan:
    bad = make_bad_plan(Random(seed), *faults, max_tasks=3)
    names = [
        repr(name)
        for fault in bad.list_reported_faults()
        for name in bad.faults[fault]
        if fault in REPORTED_BY_ID
    ]
    words = (*(FAULT_WORDS[fault] for fault in bad.list_reported_faults()), *names)
    return MalformedPlan(" + ".join(sorted(faults)), bad.plan, words)


REPORTED_BY_ID = set(FAULTS) - {"cycle", "too_deep"}
"""The others name their tasks as a chain."""
MODEL_FAULTS = [fault for fault in FAULTS if fault != "unknown_dependency"]
"""A model's dependency on nothing is left out."""
REFUSED = [fault for fault in MODEL_FAULTS if fault != "vague_task"]


def list_bad_plans() -> Iterator[MalformedPlan]:
    """Each fault alone, with each other one; then those by hand.

    But for vague tasks alone, with which a plan may run.
    """
    yield from (make_faulty_plan(seed, fault) for fault in REFUSED for seed in range(2))
    yield from (
        make_faulty_plan(seed, *each) for seed, each in enumerate(combinations(MODEL_FAULTS, 2))
    )
    yield from list_malformed_plans()


def list_worse_plans() -> Iterator[MalformedPlan]:
    """Each fault with each two others."""
    for seed, each in enumerate(combinations(MODEL_FAULTS, 3)):
        yield make_faulty_plan(seed, *each)


def divide(plans: Iterator[MalformedPlan]) -> list[list[MalformedPlan]]:
    """Return parts with plans of all kinds: only a share of the calls may be tries again."""
    bad = list(plans)
    count = -(-len(bad) // CHUNK)
    return [bad[first::count] for first in range(count)]


BY_DAY, BY_NIGHT = divide(list_bad_plans()), divide(list_worse_plans())
CHUNKS = [
    *(pytest.param(chunk, id=str(number)) for number, chunk in enumerate(BY_DAY)),
    *(
        pytest.param(chunk, id=f"{number} by night", marks=pytest.mark.nightly)
        for number, chunk in enumerate(BY_NIGHT)
    ),
]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint().run_in_thread() as served:
        yield served


def build_graph(endpoint: Endpoint, *, repairs: int) -> SupervisorGraph:
    settings = Settings(
        openai_base_url=endpoint.base_url,
        openai_api_key="sk-test-0123456789abcdef",
        model_fast="openai:gpt-5-mini",
        model_standard="openai:gpt-5-mini",
        model_strong="openai:gpt-5",
    )
    caps = {"max_tasks": MAX_TASKS, "max_plan_repairs": repairs}
    return build_supervisor(
        TEAM.model_copy(update=caps),
        settings=settings.model_copy(update={"speculate": False}),  # it has tests of its own
    )


@pytest.fixture(scope="module")
def without_repairs(endpoint: Endpoint) -> SupervisorGraph:
    return build_graph(endpoint, repairs=0)


def script_answers(endpoint: Endpoint, *answers: object) -> None:
    """Begin anew, with these answers to the planner's questions."""
    endpoint.requests.clear()
    endpoint.load_scenario(Scenario(answers={"Plan": list(answers)}))


def list_unnamed_faults(bad: MalformedPlan, text: str) -> list[str]:
    return [word for word in bad.refusal_words if word not in text]


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_bad_plan_is_refused_with_its_reason_and_a_plan_by_rule_runs_instead(
    endpoint: Endpoint, without_repairs: SupervisorGraph, chunk: list[MalformedPlan]
) -> None:
    for bad in chunk:
        script_answers(endpoint, bad.payload)
        refused, state = list[str](), dict[str, Any]()

        for mode, part in without_repairs.stream(REQUEST, stream_mode=["custom", "values"]):
            if mode == "values":
                state = part
            elif part["kind"] == "plan_rejected":
                refused += part["problems"]

        assert not list_unnamed_faults(bad, "; ".join(refused)), (bad, refused)
        assert len(endpoint.select_calls(schema="Plan")) == bad.tries, bad
        assert state["status"] == "partial" and state["plan"].is_by_rule
        assert list_handoffs(endpoint.requests) == list_planned_tasks(
            state["plan"].model_dump(mode="json")
        )


@pytest.mark.parametrize(
    ("odd", "read"),
    [
        ({"depends_on": "T1"}, {"depends_on": ["T1"]}),
        ({"depends_on": None, "materials": None}, {"depends_on": [], "materials": []}),
        ({"depends_on": {"task": "T2"}}, {"depends_on": ["T2"]}),
        ({"depends_on": ["T1", "T1", {"task": "T1", "required": True}]}, {"depends_on": ["T1"]}),
        ({"depends_on": [{"task": "T1", "required": "no"}]}, {"depends_on": ["T1"]}),
        ({"id": 7, "depends_on": ["T1"]}, {"id": "7", "depends_on": ["T1"]}),
        ({"id": ".."}, {}),
        ({"id": "-rf"}, {}),
        ({"id": "__proto__"}, {}),
        ({"materials": "sales.csv"}, {"materials": ["sales.csv"]}),
        ({"materials": [" Sales.csv"]}, {"materials": ["sales.csv"]}),
        ({"materials": ["../sales.csv"]}, {"materials": ["sales.csv"]}),
        ({"worker": "Analyst\n"}, {"worker": "analyst"}),
        ({"depends_on": ["t1 "]}, {"depends_on": ["T1"]}),
        ({"depends_on": ["sales.csv"]}, {"depends_on": [], "materials": ["sales.csv"]}),
        ({"priority": 1, "group": "T3"}, {}),
    ],
)
def test_a_plan_in_odd_forms_runs_as_it_was_meant(
    endpoint: Endpoint, without_repairs: SupervisorGraph, odd: PlanJson, read: PlanJson
) -> None:
    script_answers(endpoint, make_plan_with_task(**odd))

    without_repairs.invoke(REQUEST)

    assert list_handoffs(endpoint.requests) == list_planned_tasks(
        make_plan_with_task(**{**odd, **read})
    )
