"""The node in which a worker works at its task, with a fake model and no tools."""

from typing import Any

import pytest

from nodes.act import act, after_act
from nodes.errors import EndpointUnreachable
from nodes.execution.dispatch import Dispatch
from nodes.execution.tool_loop import build_worker_agent
from nodes.limits.budget import Budget
from nodes.schemas.team import Team, Worker
from state import Origin, RecoveryAction, Report, Tier, WorkerState
from supervisor_worker.testing.fake_models import FakeCatalog, make_models
from tests.node_runs import NodeRun, make_config
from tests.node_samples import make_attempt, make_report, make_reports, make_task, make_worker_state
from tests.teams import make_team

TEAM = make_team()
REPORT = {"output": "Shop A had 3,000 EUR.", "confidence": 90}


class FakeAgents:
    """Builds the loop of a worker of the team, without tools."""

    def __init__(self, team: Team, models: FakeCatalog) -> None:
        self.team, self.models, self.asked = team, models, list[str]()

    async def get_agent(self, name: str) -> Any:
        self.asked.append(name)
        return build_worker_agent(self.team.find_worker(name), [], self.models.model)


async def run_act(
    state: WorkerState,
    models: FakeCatalog | None = None,
    run: NodeRun | None = None,
    worker: Worker = TEAM.workers[0],
) -> Any:
    models = models or make_models(Report=REPORT)
    agents = FakeAgents(TEAM, models)
    options: dict[str, Any] = {"agents": agents}
    return await (run or NodeRun()).call(
        act, state, worker=worker, team=TEAM, models=models, **options
    )


async def test_the_workers_report_is_the_result_of_the_attempt():
    run = NodeRun()

    update = await run_act(make_worker_state(), run=run)

    (attempt,) = update["attempts"].values()
    assert attempt.report.output == REPORT["output"] and attempt.error is None
    assert (attempt.worker, attempt.tier, attempt.usage.model_calls) == (
        "researcher",
        "standard",
        1,
    )
    assert update["steps"] == {"A": 1}
    assert [event["kind"] for event in run.events] == ["task_started"]


async def test_the_worker_reads_its_task_its_inputs_and_its_materials():
    models = make_models(Report=REPORT)
    task = make_task("B", "researcher", "A", materials=("sales.csv",))
    state = make_worker_state(task, inputs=make_reports("A"), materials={"sales.csv": "shop,eur"})

    await run_act(state, models)

    asked = models.model.calls[0].text
    assert task.description in asked and "Result A." in asked and "shop,eur" in asked


async def test_a_report_without_claims_has_the_sentences_that_its_materials_say():
    output = "Shop A sold 410 jars. Shop B sold 999 jars."
    task = make_task("A", "researcher", materials=("sales.md",))
    state = make_worker_state(task, materials={"sales.md": "Shop A sold 410 jars in May."})

    update = await run_act(state, make_models(Report=Report(output=output, confidence=90)))

    report = update["attempts"]["1"].report
    assert [(each.text, each.proof) for each in report.claims] == [
        ("Shop A sold 410 jars.", "quoted")
    ]
    assert (report.has_found_claims, report.gaps, report.confidence) == (True, (), 90)


async def test_what_was_read_is_a_taint_label_of_the_report():
    state = make_worker_state(origin=Origin(taint_labels=("private",)))

    (attempt,) = (await run_act(state))["attempts"].values()

    assert attempt.taint_labels == attempt.report.taint_labels == ("private",)


async def test_an_error_of_the_model_is_written_into_the_attempt():
    models = make_models(Report=EndpointUnreachable("no answer"))

    (attempt,) = (await run_act(make_worker_state(), models))["attempts"].values()

    assert attempt.report is None and attempt.fault == "model"
    assert "ENDPOINT_UNREACHABLE" in attempt.error


async def test_a_reassigned_task_is_done_by_the_other_worker_on_its_tier():
    change = RecoveryAction(rung="reassign", worker="analyst", tier="strong")
    models = make_models(Report=REPORT)
    state = make_worker_state(attempts=[make_attempt()], change=change, problem="failed")

    update = await run_act(state, models)

    attempt = update["attempts"]["2"]
    assert (attempt.worker, attempt.tier, attempt.rung) == ("analyst", "strong", "reassign")
    assert models.asked_tiers == ["strong"]


@pytest.mark.parametrize(("granted", "tier"), [(("strong",), "strong"), ((), "standard")])
async def test_a_task_gets_the_tier_that_the_plan_chose_if_its_worker_may_use_it(
    granted: tuple[Tier, ...], tier: Tier
):
    worker = TEAM.workers[0].model_copy(update={"tiers": granted})
    state = make_worker_state(make_task("A", tier="strong"))

    update = await run_act(state, worker=worker)

    assert update["attempts"]["1"].tier == tier


async def test_an_input_does_not_say_which_worker_wrote_it():
    models = make_models(Report=REPORT)
    task = make_task("B", "researcher", "A")

    await run_act(make_worker_state(task, inputs=make_reports("A")), models)

    assert '"worker"' not in models.model.calls[0].text


async def test_the_next_attempt_reads_the_problem_of_the_last_one():
    models = make_models(Report=REPORT)
    change = RecoveryAction(rung="refine", worker="researcher", tier="standard")
    state = make_worker_state(attempts=[make_attempt()], change=change, problem="no year is named")

    await run_act(state, models)

    assert "no year is named" in models.model.calls[0].text


async def test_near_the_caps_the_cheapest_tier_works():
    models = make_models(Report=REPORT)

    await run_act(make_worker_state(), models, NodeRun(make_config(work_left_s=15.0)))

    assert models.asked_tiers == ["fast"]


async def test_near_the_caps_a_dispensable_task_is_skipped():
    run = NodeRun(make_config(budget=Budget(max_tokens=1_000, tokens=700)))

    update = await run_act(make_worker_state(is_dispensable=True), run=run)

    assert update["results"]["A"].status == "skipped"
    assert len(run.list_events("task_skipped")) == 1
    assert after_act({**make_worker_state(), **update}) == "__end__"


async def test_at_the_deadline_a_task_that_has_not_begun_is_released():
    update = await run_act(make_worker_state(), run=NodeRun(make_config(work_left_s=0.0)))

    assert update == {"released": True, "steps": {"A": 0}}


async def test_without_steps_left_a_second_attempt_ends_with_the_cap_as_its_error():
    change = RecoveryAction(rung="refine", worker="researcher", tier="standard")
    state = make_worker_state(attempts=[make_attempt()], change=change)
    run = NodeRun(dispatch=Dispatch(steps_at_start=1))

    update = await run_act(state, run=run)

    attempt = update["attempts"]["2"]
    assert attempt.error == "the run's step cap is reached" and attempt.fault == "permanent"


def test_an_attempt_is_assessed_and_a_finished_task_ends():
    assert after_act(make_worker_state()) == "assess"
    assert after_act(make_worker_state(released=True)) == "__end__"
    assert after_act(make_worker_state(results={"A": make_report("A")})) == "__end__"


async def test_the_trace_says_what_an_attempt_was_given():
    run = NodeRun()
    task = make_task("B", "researcher", "A", materials=("sales.csv",))
    state = make_worker_state(
        task,
        inputs=make_reports("A"),
        materials={"sales.csv": "shop,eur"},
        description="List the shops.",
        problem="too long",
        answers={"Which year?": "2025"},
    )

    await run_act(state, run=run)

    handoff = run.events[0]["handoff"]
    assert handoff["given"] == ["A"] and handoff["materials"] == {"sales.csv": 8}
    assert (handoff["description"], handoff["earlier"]) == ("List the shops.", "too long")
    assert handoff["answers"] == {"Which year?": "2025"}
