"""What a team's files set of the synthesis: judge, critic and notices."""

from pathlib import Path

import pytest

from graph import load_team
from graph.settings import Settings
from nodes.errors import TeamInvalid
from nodes.schemas.team import Worker
from tests.endpoint import Endpoint, Scenario, ScriptedTask, script_tasks
from tests.integration.graph_runs import run_scenario


@pytest.mark.parametrize("switch", ["off", "on", "below", "'on'"])
def test_a_team_file_switches_judge_and_critic(switch: str, tmp_path: Path) -> None:
    folder = _write_team_folder(tmp_path, f"critic: {switch}\njudge: false\nmax_critic_rounds: 2")

    found = load_team(folder, Settings())

    assert found.critic == switch.strip("'")
    assert (found.judge, found.max_critic_rounds) == (False, 2)


def test_a_switch_that_is_none_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(TeamInvalid, match="allowed: off, on, below"):
        load_team(_write_team_folder(tmp_path, "critic: sometimes"), Settings())


def _write_team_folder(tmp_path: Path, keys: str) -> Path:
    folder = tmp_path / "pair"
    folder.mkdir()
    (folder / "team.md").write_text(f"---\ndescription: Two.\n{keys}\n---\nPlan.\n")
    (folder / "worker.md").write_text("---\ndescription: Works.\n---\nWork.\n")
    return folder


@pytest.mark.parametrize("message", ["It is so.", "It is so. Not legal advice."])
async def test_a_teams_notice_ends_every_answer_once(
    message: str, endpoint: Endpoint, settings: Settings
) -> None:
    answers = {"Answer": {"text": message, "confidence": 80}}
    scenario = Scenario(tasks=script_tasks({"A": ()}), answers=answers)

    state, _ = await run_scenario(endpoint, settings, scenario, notice="Not legal advice.")

    assert state["answer"].text.endswith("Not legal advice.")
    assert state["answer"].text.count("Not legal advice.") == 1


def test_a_notice_stands_in_the_team_file(tmp_path: Path) -> None:
    found = load_team(_write_team_folder(tmp_path, "notice: Not legal advice."), Settings())

    assert found.notice == "Not legal advice."


async def test_the_notices_of_those_who_had_a_part_end_the_answer_before_the_teams(
    endpoint: Endpoint, settings: Settings
) -> None:
    back = {"status": "escalated", "escalation": {"reason": "out_of_scope", "message": "no law"}}
    tasks = (
        ScriptedTask(id="A", worker="doctor"),
        ScriptedTask(id="B", worker="lawyer", report=back),
        ScriptedTask(id="C", worker="doctor"),
    )
    workers = tuple(
        Worker(name=name, description=name, instructions="Work.", notice=f"A {name} decides.")
        for name in ("doctor", "lawyer")
    )

    state, _ = await run_scenario(
        endpoint, settings, Scenario(tasks=tasks), workers=workers, notice="Check.", ladder=()
    )

    assert state["answer"].text.endswith("\n\nA doctor decides.\n\nCheck.")
    assert "lawyer decides" not in state["answer"].text
    assert state["answer"].text.count("A doctor decides.") == 1


def test_a_workers_notice_stands_in_its_file(tmp_path: Path) -> None:
    folder = _write_team_folder(tmp_path, "")
    (folder / "worker.md").write_text("---\ndescription: Works.\nnotice: Ask one.\n---\nWork.\n")

    assert load_team(folder, Settings()).workers[0].notice == "Ask one."
