"""The node that writes the answer from the reports."""

from typing import Any

import pytest

from nodes.errors import EndpointUnreachable
from nodes.limits.budget import Budget
from nodes.schemas.team import Team
from nodes.synthesizer import after_synthesizer, needs_review, synthesize
from nodes.text.phrases import PHRASES
from state import Answer, Claim, SupervisorState, Usage
from supervisor_worker.testing.fake_models import FakeCatalog, make_models
from tests.node_runs import NodeRun, list_payers, make_config
from tests.node_samples import make_plan, make_planned_state, make_report, make_reports, make_task
from tests.teams import make_team

ANSWER = Answer(text="Shop A leads.", confidence=90)
DONE = make_reports("A", "B")


async def run_synthesizer(
    state: SupervisorState,
    models: FakeCatalog | None = None,
    *,
    team: Team | None = None,
    run: NodeRun | None = None,
) -> Any:
    options = {"team": team or make_team(), "models": models or make_models(Answer=ANSWER)}
    return await (run or NodeRun()).call(synthesize, state, **options)


async def test_the_answer_of_complete_reports_is_delivered_and_charged():
    run = NodeRun()

    update = await run_synthesizer(make_planned_state(results=DONE), run=run)

    assert (update["answer"].text, update["status"]) == ("Shop A leads.", "done")
    assert list_payers(update) == [("synthesizer", "standard", 1)]
    assert update["usage"].model_calls == 1
    assert [event["kind"] for event in run.events] == ["synthesized", "answer"]


async def test_a_result_that_is_the_answer_is_delivered_word_for_word():
    models = make_models(Answer=Answer(text="", report="B", confidence=90))

    update = await run_synthesizer(make_planned_state(results=DONE), models)

    assert (update["answer"].text, update["answer"].report) == ("Result B.", "B")
    assert update["status"] == "done" and update["messages"][0].text.startswith("Result B.")


async def test_a_result_that_does_not_exist_is_refused_and_the_results_are_listed():
    models, run = make_models(Answer=Answer(text="", report="letter")), NodeRun()

    update = await run_synthesizer(make_planned_state(results=DONE), models, run=run)

    assert "Result A." in update["answer"].text and "Result B." in update["answer"].text
    assert update["answer"].report == ""
    refused = [event["problems"] for event in run.events if event["kind"] == "answer_refused"]
    assert refused == [["report: 'letter' is no completed task; write the text"]] * 2


async def test_a_contradiction_without_a_second_side_costs_no_answer():
    half = {"subject": "growth", "claims": [{"text": "It grew."}], "verdict": "unclear"}
    models = make_models(Answer={"text": "Shop A leads.", "contradictions": [half]})

    update = await run_synthesizer(make_planned_state(results=DONE), models)

    assert (update["answer"].text, update["answer"].contradictions) == ("Shop A leads.", ())
    assert len(models.model.calls) == 1


async def test_only_a_completed_result_is_offered_to_be_delivered():
    whole, partly = make_report("A"), make_report("B", status="escalated")
    for reports, offered in (([whole, partly], ["", "A"]), ([partly], None)):
        models = make_models(Answer=ANSWER)
        state = make_planned_state(results={each.task: each for each in reports})

        await run_synthesizer(state, models)

        (call,) = models.model.calls
        assert call.parameters["properties"].get("report", {}).get("enum") == offered


async def test_the_model_reads_the_request_and_all_results():
    models = make_models(Answer=ANSWER)
    state = make_planned_state(results=DONE)

    await run_synthesizer(state, models)

    asked = models.model.calls[0].text
    assert all(words in asked for words in (state["request"], "Result A.", "Result B."))


async def test_a_task_without_a_result_is_a_gap_and_limits_the_confidence():
    results = {"A": make_report("A"), "B": make_report("B", status="failed", error="no table")}

    update = await run_synthesizer(make_planned_state(results=results))

    assert update["status"] == "partial" and update["answer"].confidence == 50
    assert any("no table" in gap for gap in update["answer"].gaps)


async def test_a_gap_that_a_worker_states_does_not_make_the_run_partial():
    results = {**DONE, "B": make_report("B", gaps=("Rents are not included.",))}

    update = await run_synthesizer(make_planned_state(results=results))

    assert update["status"] == "done" and "Rents are not included." in update["answer"].gaps


async def test_a_gap_that_the_answer_and_a_task_name_is_listed_once_with_the_task():
    partial = make_report(
        "B", is_partial=True, gaps=("the web failed",), failures=("the web failed",)
    )
    said = Answer(text="Shop A leads.", confidence=90, gaps=("the web failed",))

    update = await run_synthesizer(
        make_planned_state(results={**DONE, "B": partial}), make_models(Answer=said)
    )

    assert update["answer"].gaps == ("B lacks: the web failed",)


async def test_a_table_that_only_a_model_has_read_is_not_called_unused():
    results = {"A": make_report("A", found_as_expected=True)}
    files = {"prices.csv": "shop,price\nA,3\n"}

    update = await run_synthesizer(
        make_planned_state(make_plan(make_task("A")), results, materials=files)
    )

    assert (update["answer"].gaps, update["status"]) == ((), "done")


async def test_the_model_reads_the_goal_and_what_each_task_was_to_do():
    models = make_models(Answer=ANSWER)
    plan = make_plan(make_task("A", description="Sum the sales\nof shop A."), make_task("B"))

    await run_synthesizer(make_planned_state(plan, DONE), models)

    asked = models.model.calls[0].text
    assert f"goal: {plan.goal}" in asked and "- A: Sum the sales of shop A." in asked


async def test_a_part_of_the_request_without_an_answer_makes_the_run_partial():
    reply = {**ANSWER.model_dump(), "unanswered": ("revenue of shop C", " revenue\nof shop C ")}

    update = await run_synthesizer(make_planned_state(results=DONE), make_models(Answer=reply))

    answer = update["answer"]
    assert answer.unanswered == ("revenue of shop C",)
    assert update["status"] == "partial" and answer.gaps == ("not answered: revenue of shop C",)
    assert answer.confidence == 50


@pytest.mark.parametrize("written", ["", "none", None, ["None."], ["the weather on Mars"]])
async def test_what_the_request_does_not_ask_for_is_no_unanswered_part(written: Any):
    reply = {"text": "Shop A leads.", "confidence": 90, "unanswered": written}

    update = await run_synthesizer(make_planned_state(results=DONE), make_models(Answer=reply))

    assert update["status"] == "done"
    assert update["answer"].unanswered == () and update["answer"].gaps == ()


@pytest.mark.parametrize(
    ("stated", "reported", "confidence", "unrated"),
    [
        (80, (5, 90), 5, ()),
        (30, (60, 90), 30, ()),
        (None, (60, 90), 60, ()),
        (80, (None, 70), 70, ("A",)),
        (80, (None, None), 80, ("A", "B")),
        (None, (None, None), None, ("A", "B")),
    ],
)
async def test_an_answer_is_no_surer_than_the_reports_it_uses(
    stated: int | None,
    reported: tuple[int | None, int | None],
    confidence: int | None,
    unrated: tuple[str, ...],
):
    results = {
        name: make_report(name, confidence=each) for name, each in zip("AB", reported, strict=True)
    }
    models = make_models(Answer={"text": "Shop A leads.", "confidence": stated})

    update = await run_synthesizer(make_planned_state(results=results), models)

    assert (update["answer"].confidence, update["answer"].unrated) == (confidence, unrated)
    assert update["status"] == "done"


async def test_a_report_that_the_answer_does_not_cite_does_not_limit_it():
    sales = Claim(text="Shop A leads.", source="sales.csv")
    rumour = Claim(text="Shop B closes.", source="hearsay.txt")
    results = {
        "A": make_report("A", confidence=70, claims=(sales,)),
        "B": make_report("B", confidence=10, claims=(rumour,)),
    }
    models = make_models(Answer={"text": "A leads.", "confidence": 90, "sources": ["sales.csv"]})

    update = await run_synthesizer(make_planned_state(results=results), models)

    assert update["answer"].confidence == 70


BUG = Claim(text="A bug in the parser stops the import.", source="parser.py")
SETTING = Claim(text="A wrong setting stops the import.", source="settings.toml")
CONFLICTING = {
    "A": make_report("A", claims=(BUG,)),
    "B": make_report("B", claims=(SETTING,)),
}


def make_conflict_reply(*claims: Claim) -> dict[str, Any]:
    named = {"subject": "cause", "claims": [{"text": claim.text} for claim in claims]}
    return {"text": "The import stops.", "confidence": 80, "contradictions": [named]}


async def test_a_conflict_in_words_that_the_synthesizer_names_is_judged_in_one_call():
    run = NodeRun()
    ruling = {"pair": 1, "holds": "second", "reason": "the file was changed that day"}
    models = make_models(Answer=make_conflict_reply(BUG, SETTING), Verdict={"rulings": [ruling]})

    update = await run_synthesizer(make_planned_state(results=CONFLICTING), models, run=run)

    (found,) = update["answer"].contradictions
    assert found.subject == "cause" and found.claims == (BUG, SETTING)
    assert found.verdict == "the second holds (settings.toml): the file was changed that day"
    assert ("judge", "strong", 1) in list_payers(update) and len(run.list_events("judged")) == 1


async def test_figures_and_words_that_conflict_are_both_judged_and_charged():
    figures = {
        name: Claim(text=f"The import took {count} minutes on 2026-03-02.", source=f"{name}.log")
        for name, count in (("A", 5), ("B", 9))
    }
    results = {
        name: report.model_copy(update={"claims": (*report.claims, figures[name])})
        for name, report in CONFLICTING.items()
    }
    first, second = ({"rulings": [{"pair": 1, "holds": "first", "reason": r}]} for r in "xy")
    models = make_models(Answer=make_conflict_reply(BUG, SETTING), Verdict=[first, second])

    update = await run_synthesizer(make_planned_state(results=results), models)

    assert len(update["answer"].contradictions) == 2
    assert ("judge", "strong", 2) in list_payers(update)


async def test_without_a_judge_the_synthesizers_conflict_is_undecided():
    models = make_models(Answer=make_conflict_reply(BUG, SETTING))
    state = make_planned_state(results=CONFLICTING)

    update = await run_synthesizer(state, models, team=make_team(judge=False))

    (found,) = update["answer"].contradictions
    assert found.verdict == "cannot decide: no judge was asked"
    assert update["answer"].confidence == 70 and len(models.model.calls) == 1


async def test_a_conflict_of_claims_that_no_report_has_is_not_judged():
    invented = Claim(text="The import was never started.")
    models = make_models(Answer=make_conflict_reply(BUG, invented))

    update = await run_synthesizer(make_planned_state(results=CONFLICTING), models)

    assert update["answer"].contradictions == () and len(models.model.calls) == 1


async def test_only_sources_of_the_reports_are_kept():
    results = {**DONE, "A": make_report("A", claims=(Claim(text="x", source="sales.csv"),))}
    models = make_models(Answer={**ANSWER.model_dump(), "sources": ("sales.csv", "hearsay.txt")})

    update = await run_synthesizer(make_planned_state(results=results), models)

    assert update["answer"].sources == ("sales.csv",)


async def test_prose_is_taken_as_the_answer():
    models = make_models(Answer="Shop A is the best one.")

    update = await run_synthesizer(make_planned_state(results=DONE), models)

    assert update["answer"].text == "Shop A is the best one." and update["status"] == "done"


async def test_an_unreadable_answer_is_asked_for_again():
    models = make_models(Answer=[{"text": ""}, ANSWER])

    update = await run_synthesizer(make_planned_state(results=DONE), models)

    assert update["answer"].text == "Shop A leads."
    assert list_payers(update) == [("synthesizer", "standard", 2)]


@pytest.mark.parametrize("reply", [EndpointUnreachable("no answer"), {"text": ""}])
async def test_without_a_synthesizer_the_reports_are_the_answer(reply: Any):
    models = make_models(Answer=reply)

    update = await run_synthesizer(make_planned_state(results=DONE), models)

    assert update["status"] == "partial"
    assert "Result A." in update["answer"].text and "Result B." in update["answer"].text


async def test_a_run_without_any_result_has_failed_and_asks_no_model():
    models = make_models()
    results = {name: make_report(name, status="failed", output="") for name in "AB"}

    update = await run_synthesizer(make_planned_state(results=results), models)

    assert update["status"] == "failed" and models.model.calls == []


async def test_a_draft_for_the_critic_is_not_delivered():
    run = NodeRun()

    update = await run_synthesizer(
        make_planned_state(results=DONE), team=make_team(critic="on"), run=run
    )

    assert (update["status"], update["drafted"]) == ("running", "done")
    assert not run.list_events("answer") and after_synthesizer(update) == "critic"


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ({}, {"is_unread": True}, "passages"),
        ({}, {}, "done"),
        ({"status": "failed"}, {"is_unread": True}, "partial"),
        ({"status": "failed"}, {"is_unread": True, "status": "failed", "output": ""}, "failed"),
    ],
)
async def test_what_is_missing_weighs_more_than_what_is_only_quoted(
    first: dict[str, Any], second: dict[str, Any], status: str
):
    by_rule = Usage(model_calls=1, models=("embedded",))
    given = {"usage": by_rule, "error": "no table" if first else None}
    results = {
        "A": make_report("A", **{**given, "output": "" if first else "Three.", **first}),
        "B": make_report("B", usage=by_rule, **second),
    }
    models = make_models(Answer={"text": "Three."})
    models.model.name_in_metadata = "embedded"

    update = await run_synthesizer(make_planned_state(results=results), models)

    assert update["status"] == status
    assert update["answer"].is_unread == (status in ("passages", "partial"))
    assert (update["answer"].confidence, update["answer"].unrated) == (None, ())


async def test_passages_that_are_listed_since_no_answer_was_written_stand_under_a_heading():
    results = {**DONE, "B": make_report("B", is_unread=True)}
    models = make_models(Answer=EndpointUnreachable("no answer"))

    answer = (await run_synthesizer(make_planned_state(results=results), models))["answer"]

    assert answer.is_unread and answer.text.startswith(PHRASES["en"]["passages"])


async def test_passages_that_a_language_model_has_read_for_its_answer_are_no_longer_unread():
    results = {**DONE, "B": make_report("B", is_unread=True)}

    update = await run_synthesizer(make_planned_state(results=results))

    assert update["status"] == "done" and not update["answer"].is_unread


@pytest.mark.parametrize(
    ("critic", "confidence", "is_reviewed"),
    [
        *(("off", 10, False), ("on", 90, True), ("below", 90, False), ("below", 60, True)),
        ("below", None, True),
    ],
)
def test_the_teams_switch_decides_on_a_review(
    critic: str, confidence: int | None, is_reviewed: bool
):
    answer = Answer(text="x", confidence=confidence)

    team = make_team(critic=critic)
    assert needs_review(team, answer, make_config(), judge="openai:gpt-5") == is_reviewed
    assert not needs_review(team, answer, make_config(), judge="embedded")


def test_near_the_caps_there_is_no_review():
    config = make_config(budget=Budget(max_tokens=1_000, tokens=700))

    assert not needs_review(make_team(critic="on"), ANSWER, config, judge="openai:gpt-5")


def test_a_delivered_answer_is_the_end():
    assert after_synthesizer(make_planned_state(status="done")) == "__end__"
