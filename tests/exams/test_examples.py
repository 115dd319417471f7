"""Every command of `teams/README.md` does what it is there for, offline."""

import json
import shlex
from pathlib import Path

import pytest

from graph.cli import main
from graph.teams.default_team import DEFAULT_TEAM
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER
from teams.expert_router.tools.references.lookup import FIELDS, load_entries

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "teams" / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line) for line in TEXT.splitlines() if line.startswith("    supervise run ")
]
REFERENCES = {each.citation for field in FIELDS for each in load_entries(field)}


def find_team_argument(command: list[str]) -> str:
    return command[command.index("--team") + 1] if "--team" in command else DEFAULT_TEAM


def test_each_shipped_team_has_an_example() -> None:
    assert {find_team_argument(command) for command in COMMANDS} == {
        path.parent.name for path in SHIPPED_TEAMS_FOLDER.glob("*/team.md")
    }


@pytest.mark.parametrize("command", COMMANDS, ids=find_team_argument)
def test_an_example_is_answered_from_sources_that_exist(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SUPERVISE_DATABASE_URL", f"sqlite:///{tmp_path / 'runs.sqlite'}")

    with pytest.raises(SystemExit) as ended:
        main([*command[1:], "--json", "--quiet"])

    written = capsys.readouterr()
    assert ended.value.code in (0, 3), written.err  # a report needs a language model
    outcome = json.loads(written.out)
    files = {path.name for path in (ROOT / "teams").glob("*/sample/**/*") if path.is_file()}
    sources = outcome["answer"]["sources"]
    assert sources
    named = [name for name in sources if name not in REFERENCES and "/" not in name]
    assert [name for name in named if Path(name).name not in files] == []
