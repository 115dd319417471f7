"""The graph, the team's exam, and a run that a model of your own words drives: all offline."""

import asyncio

from graph import TEAM, graph
from supervisor_worker import arun
from supervisor_worker.testing import Fault, Scenario, ScriptedTask, assert_team_passes


def test_the_letter_has_the_answer_of_the_team() -> None:
    asked = {"question": "Where does the juice come from?"}

    ended = asyncio.run(graph.ainvoke(asked))

    assert ended["letter"].startswith("Dear customer,") and "Lake Constance" in ended["letter"]


def test_the_team_passes_its_exam() -> None:
    assert_team_passes(TEAM)


def test_a_model_that_fails_once_is_asked_again(model_endpoint, supervisor_settings) -> None:
    words = "Find the town in which the juice is pressed, with its source."
    task = ScriptedTask(id="origin", worker="reader", description=words)
    busy = Fault(kind="rate_limited", schema="Report", nth=(1,), retry_after="0")
    model_endpoint.load_scenario(Scenario(tasks=(task,), faults=(busy,)))
    asked = "In which town is the juice pressed?"

    outcome = asyncio.run(arun(asked, team=TEAM, settings=supervisor_settings))

    assert outcome.results["origin"].status == "completed"
    assert len(model_endpoint.select_calls(schema="Report")) == 2
