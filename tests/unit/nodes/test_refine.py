"""The node that rewrites a task from its error."""

from typing import Any

from nodes.errors import EndpointUnreachable, SettingsInvalid
from nodes.refine import refine
from nodes.schemas.replies import Refinement
from state import RecoveryAction
from supervisor_worker.testing.fake_models import FakeCatalog, make_models
from tests.node_runs import NodeRun, list_payers
from tests.node_samples import make_attempt, make_worker_state

STATE = make_worker_state(
    attempts=[make_attempt()],
    problem="no year was named",
    change=RecoveryAction(rung="refine", worker="researcher", tier="standard"),
)


async def run_refine(models: FakeCatalog, run: NodeRun | None = None) -> Any:
    return await (run or NodeRun()).call(refine, STATE, models=models, parameters={})


async def test_the_next_attempt_gets_new_words():
    models, run = make_models(Refinement=Refinement(description="Compute it for 2025.")), NodeRun()

    update = await run_refine(models, run)

    assert update["description"] == "Compute it for 2025."
    assert run.list_events("refined")[0]["error"] == "no year was named"


async def test_the_model_reads_the_task_and_its_problem():
    models = make_models(Refinement=Refinement(description="x"))

    await run_refine(models)

    asked = models.model.calls[0].text
    assert STATE["description"] in asked and "no year was named" in asked


async def test_it_is_charged_to_the_supervisor_on_the_fast_tier():
    update = await run_refine(make_models(Refinement=Refinement(description="x")))

    assert list_payers(update) == [("supervisor", "fast", 1)]


async def test_an_unreadable_reply_is_charged_and_the_old_words_are_kept():
    update = await run_refine(make_models(Refinement="I cannot do that."))

    assert "description" not in update and list_payers(update) == [("supervisor", "fast", 1)]


async def test_without_a_model_nothing_changes():
    for error in (EndpointUnreachable("no answer"), SettingsInvalid("no key")):
        assert await run_refine(make_models(Refinement=error)) == {}
