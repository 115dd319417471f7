"""Parameters of a request, such as the temperature, by role and by worker (S17)."""

from pathlib import Path

import pytest

from graph import arun
from graph.teams.team_loader import load_team
from nodes.errors import TeamInvalid
from tests.endpoint import ScriptedTask
from tests.runs import Runs

TEAM = """---
description: Finds figures.
ladder: [refine]
parameters:
  planner: {temperature: 0.1}
  refiner: {temperature: 0.2}
  synthesizer: {temperature: 0.3, top_p: 0.9}
---
Give figures to the finder.
"""
FINDER = """---
description: Finds a figure in the files of the request.
parameters: {temperature: 0.4, seed: 7}
---
You find figures.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    team = tmp_path / "figures"
    team.mkdir()
    (team / "team.md").write_text(TEAM)
    (team / "finder.md").write_text(FINDER)
    return team


async def test_each_role_and_worker_sends_its_own(runs: Runs, folder: Path):
    failed = {"status": "failed", "output": "no figure of a"}
    task = ScriptedTask(id="a", worker="finder", report=[failed, {"output": "42 euros"}])
    runs.script(task)
    own = runs.settings.model_copy(
        update={"standard_parameters": {"temperature": 1.0, "n_probs": 1}}
    )

    await arun("Find the figure of a.", team=str(folder), settings=own)

    asked = {call.schema: call.body for call in runs.requests}
    temperatures = {name: body["temperature"] for name, body in asked.items()}
    assert temperatures == {"Plan": 0.1, "Report": 0.4, "Refinement": 0.2, "Answer": 0.3}
    assert (asked["Report"]["seed"], asked["Answer"]["top_p"]) == (7, 0.9)
    assert asked["Answer"]["n_probs"] == 1, "what the tier says of other parameters stays"


@pytest.mark.parametrize(
    "written",
    ["tools: []", "anthropic_api_url: 'http://a.example'", "default_headers: {}", "api_key: x"],
)
def test_a_parameter_that_is_not_a_teams_to_set_is_refused(folder: Path, written: str):
    (folder / "finder.md").write_text(FINDER.replace("seed: 7", written))

    with pytest.raises(TeamInvalid, match=written.partition(":")[0]):
        load_team(str(folder))
