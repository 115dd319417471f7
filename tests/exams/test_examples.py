"""Each command of `teams/README.md` does what it is there for, offline.

The facts that the samples were made for are in the answer, and its sources exist.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from graph.teams.default_team import DEFAULT_TEAM
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, load_team
from nodes.text.markdown import format_answer
from teams.expert_router.tools.references.lookup import FIELDS, load_entries
from tests.contracts import DISTRIBUTION
from tests.screen import CapturedScreen
from tests.team_runs import TeamRun, run_team
from tests.unit.tools.fhir_samples import EXAMPLE as BUNDLE
from tests.unit.tools.fhir_samples import read_resources

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "teams" / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line) for line in TEXT.splitlines() if line.startswith("    supervise run ")
]
REFERENCES = {each.citation for field in FIELDS for each in load_entries(field)}
NOTICES = {worker.name: worker.notice for worker in load_team("expert_router").workers}
FLAWS = [
    ("parcels/labels.py", "subprocess.run", "high", "shell=True"),
    ("parcels/labels.py", "Note to the reviewer", "low", "Line too long"),
    ("parcels/store.py", "SELECT number", "high", "injection"),
    ("parcels/store.py", "SELECT number", "low", "Line too long"),
    ("parcels/store.py", "seen=[]", "medium", "mutable"),
    ("parcels/store.py", "except:", "medium", "Never catch with a bare except"),
    ("parcels/store.py", "print(", "info", "Never use `print`"),
    ("parcels/store.py", "assert (", "high", "always `True`"),
    ("parcels/tracking.py", "ARCHIVE_KEY", "critical", "AWS access key"),
    ("parcels/tracking.py", "time.sleep", "high", "time.sleep"),
    ("parcels/tracking.py", "verify=False", "high", "Certificates"),
    ("parcels/tracking.py", "is 200", "high", "=="),
    ("parcels/tracking.py", "!= None", "low", "None"),
]
"""What was put into the diff: file, words of the line, severity, words of the finding."""


def find_sample(team: str) -> Path:
    return SHIPPED_TEAMS_FOLDER / team / "sample"


def format_run(run: TeamRun) -> str:
    """Return the answer with its findings, sources and gaps."""
    return format_answer(run.answer.model_dump(mode="json"))


def list_kinds(run: TeamRun) -> list[str]:
    return [str(event["kind"]) for event in run.events]


def list_workers(run: TeamRun) -> list[str]:
    return sorted(report.worker for report in run.outcome.results.values())


def list_waits(run: TeamRun) -> dict[str, list[str]]:
    """Return the tasks that each worker's task needs."""
    assert run.outcome.plan is not None
    return {task.worker: [e.task for e in task.depends_on] for task in run.outcome.plan.tasks}


def number_new_lines(diff: str) -> dict[tuple[str, int], str]:
    """Number the lines of the new files, by nothing but the heads of the hunks."""
    found, path, number = dict[tuple[str, int], str](), "", 0
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = line[6:]
        elif head := re.match(r"@@ -\S+ \+(\d+)", line):
            number = int(head[1])
        elif line[:1] in ("+", " ") and path:
            found[path, number] = line[1:] if line[0] == "+" else ""
            number += 1
    return found


def check_code_review(run: TeamRun) -> None:
    lines = number_new_lines((find_sample("code_review") / "change.diff").read_text())
    seen = [
        flaw
        for finding in run.answer.findings
        for flaw in FLAWS
        if flaw[0] == finding.file
        and flaw[1] in lines[finding.file, finding.line or 0]
        and flaw[2] == finding.severity
        and flaw[3] in f"{finding.message} {finding.suggestion}"
    ]
    assert sorted(seen) == sorted(FLAWS) and len(run.answer.findings) == len(FLAWS)
    assert all((finding.confidence or 0) >= 80 for finding in run.answer.findings)
    ranks = [finding.severity for finding in run.answer.findings]
    assert ranks == sorted(ranks, key=("critical", "high", "medium", "low", "info").index)
    # What two lenses found is one finding.
    (bare,) = [each for each in run.answer.findings if "bare" in each.message]
    assert bare.reporters == ("bugs", "style")
    assert "AKIA" not in format_run(run)


def check_competitors(run: TeamRun) -> None:
    for report in run.outcome.results.values():
        for claim in report.claims:
            text = (find_sample("competitive_intelligence") / claim.source).read_text()
            assert claim.quotation in text


def check_contract(run: TeamRun) -> None:
    assert sum("not legal advice" in gap for gap in run.answer.gaps) == 1
    assert len(run.answer.findings) == 17
    assert all(finding.file == DISTRIBUTION.name for finding in run.answer.findings)
    waits = list_waits(run)
    assert waits["extractor"] == waits["compliance"] == []
    assert waits["risk"] == ["compliance_check"]


def check_course(run: TeamRun) -> None:
    lines = (find_sample("curriculum") / "objectives.md").read_text().splitlines()
    findings = run.answer.findings
    objectives = [f for f in findings if f.file == "objectives.md" and f.line]
    assert {finding.line for finding in objectives} == {8, 14, 16, 23}
    assert all(
        lines[(finding.line or 0) - 1].removeprefix("- ") in finding.message
        for finding in objectives
    )
    assert ("low", "topics.csv", None) in {(f.severity, f.file, f.line) for f in findings}
    assert "reading_photosynthesis.md" in {finding.file for finding in findings}


def check_bug(run: TeamRun) -> None:
    (bug,) = [each for each in run.answer.findings if each.file == "pricing.py"]
    assert (bug.line, bug.severity) == (22, "high") and "if coupon is None" in bug.suggestion
    assert "plan_revised" not in list_kinds(run)


def check_configuration(run: TeamRun) -> None:
    (revised,) = [event for event in run.events if event["kind"] == "plan_revised"]
    started = [event["task"] for event in run.events if event["kind"] == "task_started"]
    assert "configuration issue" in revised["reason"] and revised["version"] == 2
    assert revised["difference"] == {"added": ["ops"], "removed": [], "changed": ["note"]}
    assert sorted(started) == ["find_bug", "impact", "note", "ops"]
    (cause,) = [each for each in run.answer.findings if each.file == "production.yaml"]
    assert (cause.line, cause.severity) == (7, "high")
    assert "Set `gateway.timeout_s` in production.yaml to `2.0`" in cause.suggestion
    note = run.outcome.results["note"].output
    assert "Bug:" not in note and "gateway.timeout_s" in note
    assert "not-a-real" not in format_run(run)


def check_two_experts(run: TeamRun) -> None:
    legal, technical = NOTICES["legal"], NOTICES["technical"]
    ends = (f"{legal}\n\n{technical}", f"{technical}\n\n{legal}")
    assert run.answer.text.endswith(ends) and len(run.answer.sources) == 2


def check_patient(run: TeamRun) -> None:
    held = read_resources(BUNDLE)
    used = {name for name in held if not name.startswith("Practitioner")}
    left_out = {"Condition/migraine", "Observation/sodium-2025-09", "Observation/tsh-undated"}
    assert set(run.answer.sources) == {f"{BUNDLE.name}#{name}" for name in used - left_out}
    assert {finding.file for finding in run.answer.findings} <= set(run.answer.sources)
    assert all(name in "\n".join(run.answer.gaps) for name in left_out)


def check_portfolio(run: TeamRun) -> None:
    # The analyst and the planner of trades work at the same time.
    waits = list_waits(run)
    assert waits["allocation_analyst"] == waits["trade_planner"] == ["valuation"]


def check_launch(run: TeamRun) -> None:
    assert [finding.line for finding in run.answer.findings] == [8, 14, 22, 26]


def check_code(run: TeamRun) -> None:
    assert {(f.file, f.line) for f in run.answer.findings} == {("stock.py", 15), ("stock.py", 4)}
    assert "ZeroDivisionError" not in run.answer.text


def check_support(run: TeamRun) -> None:
    tools = sorted(event["tool"] for event in run.events if event["kind"] == "tool_call")
    assert tools == ["analyze_log", "search_help"]
    findings = [(finding.severity, finding.line) for finding in run.answer.findings]
    assert findings == [("critical", 110), ("high", 39), ("medium", 41)]


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What must come of an example."""

    status: str = "done"
    workers: str = ""
    """Of the reports, with spaces between; not compared if empty."""
    depth: int = 0
    """Of the plan; not compared if 0."""
    facts: tuple[str, ...] = ()
    """Each is in the answer, its findings or its gaps."""
    sources: str | None = None
    """With spaces between; None: not compared."""
    check: Callable[[TeamRun], None] = lambda run: None


ROWS = {
    "code_review/sample": Expected(
        workers="bugs history performance security style",
        depth=1,
        sources="change.diff",
        facts=(
            "- **critical** `parcels/tracking.py:9` An AWS access key",
            *("web/track.js", "SUPERVISE_REPOSITORY", "as the carriers spell them"),
        ),
        check=check_code_review,
    ),
    "competitive_intelligence/sample": Expected(
        status="passages",
        depth=2,
        sources=" ".join(p.name for p in find_sample("competitive_intelligence").iterdir()),
        facts=(
            "| Price | 8 EUR per user and month | 11 EUR per user and month | 5 EUR",
            "Inkwell does not state Offline use",
        ),
        check=check_competitors,
    ),
    "contract_review/sample": Expected(
        sources=DISTRIBUTION.name,
        facts=("17 risks: ", "quotations checked", ", 0 not."),
        check=check_contract,
    ),
    "curriculum/sample": Expected(
        workers="objective_reviewer reading_reviewer sequencer",
        depth=1,
        sources=" ".join(p.name for p in find_sample("curriculum").iterdir() if p.suffix),
        facts=(
            "23.5 hours, 8 weeks (3 hours a week)",
            "| 12 | Growing experiment | 6 | Plant growth, Flowers and seeds | 3 | 7 to 8 |",
            "| Design an experiment that shows whether seeds need light. | design | create |",
            "Target: grade 7.",
        ),
        check=check_course,
    ),
    "engineering_ops/sample/bug": Expected(
        workers="code comms data",
        facts=("0 errors in 298 requests", "34 in 233 requests", "nothing has been sent"),
        check=check_bug,
    ),
    "engineering_ops/sample/config": Expected(
        workers="code comms data ops",
        check=check_configuration,
    ),
    "expert_router": Expected(
        workers="legal technical",
        depth=1,
        facts=("72 hours", "parameterized queries"),
        check=check_two_experts,
    ),
    "patient_summary/sample": Expected(
        workers="archivist date_checker lab_analyst medication_reviewer",
        depth=1,
        facts=(
            "Type 2 diabetes mellitus (SNOMED CT 44054006): active, since 2017-03-14",
            "reaction: Urticaria (moderate)",
            "| Hemoglobin A1c (4548-4) | 8.4 % on 2023-08-03 | 6.8 % on 2025-09-16 | falling |",
            "Ramipril (ATC C09AA05): 5 mg in the morning, stopped",
            "It is not a diagnosis and no advice on treatment",
        ),
        check=check_patient,
    ),
    "portfolio_rebalancing/sample": Expected(
        sources="holdings.csv prices.csv targets.csv",
        facts=(
            "| sell | WORLD | 59 | 104.32 | 6,154.88 |",
            "| buy | GOVT | 38 | 92.16 | 3,502.08 |",
            "volatility is 9.3 percent a year",
            "Not investment advice",
        ),
        check=check_portfolio,
    ),
    "product_launch/sample": Expected(
        status="passages",
        workers="copywriter market_researcher pricing_analyst",
        depth=1,
        sources="copy.md costs.csv market_notes.md sales.csv",
        facts=(
            "| sales.csv | -1.67 | 0.09 | -1.86 to -1.49 |",
            "is 24.34 EUR, between 21.20 EUR and 29.84 EUR",
            "| 29.95 EUR | market_notes.md | The Glimt Pro costs 29.95 EUR",
            "8 texts checked: 4 without a remark, 4 with one.",
        ),
        check=check_launch,
    ),
    "research_writing_code/sample/stock.csv": Expected(
        sources="stock.py",
        facts=("running code is off",),
        check=check_code,
    ),
    "tech_support/sample": Expected(
        workers="documenter troubleshooter",
        sources="connections.md worker.log",
        facts=(
            "QueuePool limit of size 5 overflow 10 reached",
            "`/opt/harbourlist/app/harbourlist/sync/calendars.py:11 in open_session` (line 16)",
            "Lower `HARBOUR_SYNC_PARALLEL` or raise `HARBOUR_POOL_OVERFLOW`",
        ),
        check=check_support,
    ),
}


def find_team_argument(command: list[str]) -> str:
    return command[command.index("--team") + 1] if "--team" in command else DEFAULT_TEAM


def name_example(command: list[str]) -> str:
    """Return the last file of a command, below `teams`; its team if it has none."""
    is_file = command[-2] == "--file"
    return command[-1].removeprefix("teams/") if is_file else find_team_argument(command)


def list_made_up_sources(sources: Iterable[str]) -> list[str]:
    """Return what is neither a reference, nor an address, nor a file of a sample."""
    files = {path.name for path in (ROOT / "teams").glob("*/sample/**/*") if path.is_file()}
    named = [name for name in sources if name not in REFERENCES and "/" not in name]
    return [name for name in named if Path(name).name.partition("#")[0] not in files]


def test_each_shipped_team_has_an_example():
    teams = {path.parent.name for path in SHIPPED_TEAMS_FOLDER.glob("*/team.md")}

    assert {find_team_argument(command) for command in COMMANDS} == teams
    assert {*ROWS} <= {name_example(command) for command in COMMANDS}


@pytest.mark.parametrize(
    "command", [each for each in COMMANDS if name_example(each) not in ROWS], ids=name_example
)
def test_a_command_is_answered_from_sources_that_exist(
    command: list[str], monkeypatch: pytest.MonkeyPatch, supervise: CapturedScreen
):
    monkeypatch.setenv("SUPERVISE_DATABASE_URL", f"sqlite:///{Path.cwd() / 'runs.sqlite'}")
    monkeypatch.chdir(ROOT)

    code = supervise(*command[1:], "--json", "--quiet")

    assert code in (0, 3), supervise.err  # a report needs a language model
    sources = json.loads(supervise.out)["answer"]["sources"]
    assert sources and list_made_up_sources(sources) == []


@pytest.mark.parametrize(
    "command", [each for each in COMMANDS if name_example(each) in ROWS], ids=name_example
)
async def test_an_example_is_answered_with_the_facts_of_its_sample(command: list[str]):
    row, files = ROWS[name_example(command)], command[command.index("--team") + 3 :: 2]

    run = await run_team(find_team_argument(command), command[2], *files, folder=ROOT)

    assert (run.outcome.status, run.outcome.exit_code) == (row.status, 0)
    assert run.outcome.plan is not None and "plan_rejected" not in list_kinds(run)
    assert row.depth in (0, run.outcome.plan.measure_depth())
    assert not row.workers or list_workers(run) == row.workers.split()
    shown = format_run(run)
    assert [fact for fact in row.facts if fact not in shown] == []
    assert row.sources is None or {*run.answer.sources} == {*row.sources.split()}
    assert run.answer.sources and list_made_up_sources(run.answer.sources) == []
    assert run.answer.contradictions == ()
    row.check(run)
