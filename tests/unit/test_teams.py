"""Team folders: found by name or path, read whole, refused with file and line."""

from pathlib import Path

import pytest

from graph.settings import Settings
from graph.teams.front_matter import MAX_FILE_BYTES
from graph.teams.team_loader import list_team_problems, list_teams, load_team
from nodes.errors import TeamInvalid
from nodes.schemas.team import RESERVED_NAMES

TEAM = "---\ndescription: Counts fruit.\nmax_tasks: 6\n---\nOne task for each basket.\n"
WORKER = "---\ndescription: Counts.\ntools: [calculate]\n{}\n---\nYou count what is there.\n"
EXAMPLES = """\
- request: Count the apples
  plan:
    goal: Count the apples
    tasks:
      - id: T1
        description: Count the apples in basket.csv as one number
        worker: counter
      - id: T2
        description: Double the number of apples from T1
        worker: counter
        depends_on: [T1]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "teams" / "fruit"
    folder.mkdir(parents=True)
    (folder / "team.md").write_text(TEAM)
    (folder / "counter.md").write_text(WORKER.format("tier: fast\nmax_turns: 4"))
    (folder / "examples.yaml").write_text(EXAMPLES)
    return folder


def test_a_folder_becomes_a_team(folder):
    team = load_team(folder)

    worker = team.find_worker("counter")
    assert (team.name, team.max_tasks) == ("fruit", 6)
    assert team.guidance == "One task for each basket."
    assert (worker.tier, worker.limits.max_turns, worker.tools) == ("fast", 4, ("calculate",))
    assert worker.instructions == "You count what is there."
    assert team.examples[0].plan.measure_depth() == 2


def test_every_shipped_team_loads():
    for path in list_teams():
        assert list_team_problems(path) == []
        assert load_team(path.name).name == path.name


ORDINARY_WORDS = {"code", "data", "risk"}
"""Names of workers that are also words for what a worker reads."""


@pytest.mark.parametrize("name", list_teams())
def test_no_workers_instructions_name_another_worker(name):
    team = load_team(name)

    named = [
        (worker.name, other.name)
        for worker in team.workers
        for other in team.workers
        if other is not worker and other.name not in ORDINARY_WORDS
        if other.name.replace("_", " ") in worker.instructions.lower().replace("_", " ").split()
    ]

    assert not named


def test_a_team_that_is_one_already_is_given_back(folder):
    team = load_team(folder)

    assert load_team(team) is team


def test_a_team_is_found_under_the_configured_folders(folder):
    settings = Settings(team_folders=(folder.parent,))

    assert load_team("fruit", settings) == load_team(folder)
    assert folder in list_teams(settings)


def test_an_unknown_name_is_refused_with_the_nearest_one(folder):
    settings = Settings(team_folders=(folder.parent,))

    with pytest.raises(TeamInvalid, match="unknown team 'friut'; did you mean 'fruit'") as raised:
        load_team("friut", settings)

    assert "market_analysis" in raised.value.next


def test_files_that_are_no_workers_are_passed_over(folder):
    (folder / "README.md").write_text("For people.")
    (folder / ".draft.md").write_text("Not yet.")
    (folder / "evals.jsonl").write_text("{}")

    assert [worker.name for worker in load_team(folder).workers] == ["counter"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tols: [calculate]", "counter.md:4: unknown key 'tols'; did you mean 'tools'?"),
        ("colour: red", "known keys: tools, description, keywords, tier"),
        ("tier: quick", "tier is 'quick'; allowed: fast, standard, strong"),
        ("max_turns: 0", "max_turns is 0; allowed: a whole number from 1 to 50"),
        ("max_turns: '6'", "max_turns is '6'; allowed: a whole number"),
        ("max_turns: true", "max_turns is True; allowed: a whole number"),
        ("timeout_s: -1", "timeout_s is -1; allowed: a number above 0"),
        ("description: twice", "key 'description' appears twice"),
        ("tier: [fast", "YAML syntax"),
        ("\ttier: fast", "YAML syntax"),
        ("tier: *other", "YAML syntax"),
    ],
)
def test_a_worker_s_bad_key_is_named_with_its_line(folder, line, message):
    (folder / "counter.md").write_text(WORKER.format(line))

    problems = list_team_problems(folder)

    assert any(message in problem for problem in problems)
    assert all("counter.md:" in problem for problem in problems)


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ("[calculat]", "unknown tool 'calculat'; did you mean 'calculate'?"),
        ("calculate", "allowed: a list of names"),
        ("[1]", "allowed: a list of names"),
        ("[calculate, calculate]", "'calculate' appears twice"),
        ("['no_such_package:tool']", "no package 'no_such_package'"),
        ("['os.system rm:x']", "must be written package.module:attribute"),
    ],
)
def test_a_tool_that_leads_nowhere_is_refused(folder, tools, message):
    text = WORKER.format("").replace("[calculate]", tools)
    (folder / "counter.md").write_text(text)

    assert any(message in problem for problem in list_team_problems(folder))


def test_mistakes_of_keys_and_tools_are_named_at_once(folder):
    worker = "---\ndescripton: Counts.\ntools: [query_databse]\n---\nCount.\n"
    (folder / "counter.md").write_text(worker)

    text = " ".join(map(str, list_team_problems(folder)))

    assert "unknown key 'descripton'" in text and "description is missing" in text
    assert "unknown tool 'query_databse'" in text


def test_a_tool_of_another_package_is_taken(folder):
    text = WORKER.format("").replace("[calculate]", "['os.path:join']")
    (folder / "counter.md").write_text(text)

    assert load_team(folder).find_worker("counter").tools == ("os.path:join",)


def test_two_workers_never_share_a_tool(folder):
    (folder / "sorter.md").write_text(WORKER.format(""))

    (problem,) = list_team_problems(folder)

    assert "sorter.md:3" in problem
    assert "'calculate' already belongs to counter" in problem


@pytest.mark.parametrize("name", ["Counter", "two-words", "1st", *sorted(RESERVED_NAMES)])
def test_a_worker_s_name_must_fit_the_graph(folder, name):
    (folder / f"{name}.md").write_text(WORKER.format("").replace("tools: [calculate]", ""))

    assert len(list_team_problems(folder)) == 1


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"You count.", "first line must be '---'"),
        (b"---\ndescription: x\n", "no end"),
        (b"---\n---\nYou count.", "has no keys; add description"),
        (b"---\ntier: fast\n---\nYou count.", "description is missing"),
        (b"---\ndescription: x\n---\n", "no instructions"),
        (b"x" * (MAX_FILE_BYTES + 1), "more than the limit of"),
        (b"---\na: " + b"[" * 100_000 + b"\n---\nx", "nested too deeply"),
        (b"---\na:\n" + b"- " * 100_000 + b"\n---\nx", "nested too deeply"),
        (b"---\na: &a [1]\nb: [*a, *a]\n---\nx", "aliases"),
    ],
)
def test_a_file_that_is_no_worker_is_refused(folder, raw, message):
    (folder / "counter.md").write_bytes(raw)

    assert any(
        message in problem and "counter.md" in problem for problem in list_team_problems(folder)
    )


def test_a_link_out_of_the_folder_is_refused(folder, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text(WORKER.format(""))
    (folder / "counter.md").unlink()
    (folder / "counter.md").symlink_to(outside)

    assert "outside the folder" in list_team_problems(folder)[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1", "must be a list"),
        ("- request: x", "exactly the keys request and plan"),
        (EXAMPLES.replace("counter", "countr", 1), ":7: unknown worker 'countr'; did you mean"),
        (EXAMPLES.replace("[T1]", "[T9]"), "depends on 'T9'"),
        (EXAMPLES.replace("worker: counter", "wrker: counter", 1), ":7: example 1"),
        (EXAMPLES.replace("Count the apples\n", "7\n", 1), "request must be a string"),
        ("- [", "YAML syntax"),
    ],
)
def test_an_example_must_be_a_plan_of_this_team(folder, text, message):
    (folder / "examples.yaml").write_text(text)

    assert any(message in problem for problem in list_team_problems(folder))


def test_all_problems_are_listed_and_the_first_one_is_raised(folder):
    (folder / "team.md").write_text("---\ndescription: x\nmax_tasks: 0\nmax_deep: 2\n---\n")
    (folder / "counter.md").write_text(WORKER.format("tols: x"))

    problems = list_team_problems(folder)

    assert len(problems) == 3
    with pytest.raises(TeamInvalid, match=r"max_tasks is 0.*and 2 more"):
        load_team(folder)


TEAM_CAPS = ("max_tasks", "max_depth", "max_steps", "max_attempts")
WORKER_CAPS = ("max_turns", "timeout_s", "max_tokens")


@pytest.mark.parametrize("value", ["0", "-1", ".nan", ".inf", "-.inf", "many", "true", "1e400"])
@pytest.mark.parametrize("cap", TEAM_CAPS + WORKER_CAPS)
def test_a_cap_that_cannot_be_is_named_with_what_is_allowed(folder, cap, value):
    if cap in TEAM_CAPS:
        (folder / "team.md").write_text(f"---\ndescription: x\n{cap}: {value}\n---\n")
    else:
        (folder / "counter.md").write_text(WORKER.format(f"{cap}: {value}"))

    (problem,) = list_team_problems(folder)

    assert f"{cap} is " in problem and "allowed: a " in problem


def test_a_folder_that_is_not_a_team_is_reported(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "Bad-Name").mkdir()
    (tmp_path / "Bad-Name" / "team.md").write_text(TEAM)

    assert "does not exist" in list_team_problems(tmp_path / "missing")[0]
    assert "not a folder" in list_team_problems(folder / "team.md")[0]
    assert "has no team.md" in list_team_problems(tmp_path / "empty")[0]
    assert "team's name" in list_team_problems(tmp_path / "Bad-Name")[0]


def test_a_team_without_workers_is_refused(folder):
    (folder / "counter.md").unlink()
    (folder / "examples.yaml").unlink()

    assert "has 0 workers" in list_team_problems(folder)[0]
