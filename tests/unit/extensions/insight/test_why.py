"""`supervise why` and `supervise failures`: what they print, and what they make of bad traces."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.insight.causes import Cause, Explanation, explain
from extensions.insight.failures import count_failures
from extensions.insight.fault_kinds import load_fault_kinds
from extensions.insight.why import format_explanation
from graph.runs.stopping import TaskUnknown
from graph.runs.trace import TraceUnreadable, build_trace, get_log_path
from graph.settings import Settings
from graph.teams.front_matter import WorkerKeys
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, script_tasks
from tests.screen import CapturedScreen
from tests.teams import write_team

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
TASKS = script_tasks({"prices": (), "ranking": ("prices",)})
MAST_MODES = (
    *("1.1 Disobey task specification", "1.2 Disobey role specification"),
    *("1.3 Step repetition", "1.4 Loss of conversation history"),
    *("1.5 Unaware of termination conditions", "2.1 Conversation reset"),
    *("2.2 Fail to ask for clarification", "2.3 Task derailment", "2.4 Information withholding"),
    *("2.5 Ignored other agent's input", "2.6 Reasoning-action mismatch"),
    *("3.1 Premature termination", "3.2 No or incomplete verification"),
    "3.3 Incorrect verification",
)
HEAD = {"t": 0.0, "task": "", "worker": ""}
PLAN = {"goal": "x", "tasks": [{"id": "a", "description": "x", "worker": "w"}]}


@pytest.fixture
def playing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint().run_in_thread() as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        yield endpoint


def run(supervise: CapturedScreen, endpoint: Endpoint, thread: str, *faults: Fault) -> None:
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=faults))
    supervise("run", "Compare the parts.", "--team", "market_analysis", "--thread", thread, "-q")


def write_log(thread: str, *events: dict[str, Any]) -> None:
    """Write the trace of a thread."""
    path = get_log_path(thread, Settings())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps({**HEAD, **event})}\n" for event in events))


def test_a_trace_without_a_line_that_can_be_read_is_no_healthy_run(
    supervise: CapturedScreen,
) -> None:
    write_log("whole", {"kind": "request", "team": "t"}, {"kind": "plan_created", "plan": PLAN})
    for damage in (b"", bytes(range(128, 256)) * 3):
        get_log_path("lost", Settings()).write_bytes(damage)

        assert supervise("why", "lost") == 2
        assert "the trace has no line that can be read" in supervise.err
        assert supervise("failures", "--json") == 0
        said = json.loads(supervise.out)
        assert said["runs"] == 1 and said["unreadable"] == ["lost"]


@pytest.mark.parametrize("command", ["failures", "inbox", "calibration"])
def test_a_misspelt_team_is_refused_and_the_meant_one_named(
    supervise: CapturedScreen, command: str
) -> None:
    assert supervise(command, "--team", "market_analysi") == 2
    assert "market_analysis" in supervise.err and not supervise.out
    assert supervise(command, "--team", "market_analysis") == 0


def test_a_given_plan_that_does_not_fit_is_the_users_not_the_models(
    playing: Endpoint, supervise: CapturedScreen, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    tasks = [{"id": "a", "description": "Find the prices.", "worker": "ghost"}]
    plan.write_text(json.dumps({"goal": "Prices", "tasks": tasks}))
    asked = ("--team", "market_analysis", "--plan", str(plan), "--thread", "given", "-q")

    assert supervise("run", "Find the prices.", *asked) == 2
    assert "correct it, and give it to a new run" in supervise.err and not playing.requests
    assert supervise("why", "given") == 0
    assert "the plan that was given to the run does not fit the team" in supervise.out
    assert "MAST" not in supervise.out


def test_a_part_that_a_tool_could_not_answer_is_the_tools_word_not_an_unread_file(
    supervise: CapturedScreen, tmp_path: Path
) -> None:
    table = tmp_path / "prices.csv"
    table.write_text("name,price\na,1\nb,2\n")
    asked = "What is the weather in Paris, and which name has the highest price?"
    supervise("run", asked, "--file", str(table), "--thread", "lacks", "-q")

    assert supervise("why") == 0

    assert (
        "the tool analyze_table could not answer a part: no column or cell of the table is called"
        in supervise.out
    )
    assert "event: tool_call at" in supervise.out


def test_a_file_that_cannot_be_read_and_words_that_no_file_has_are_helped_each_in_its_way(
    supervise: CapturedScreen, tmp_path: Path
) -> None:
    (tmp_path / "memo.md").write_text("# Bells\n\nThe guarantee for a bell is ten years.\n")
    for name in ("drawing.pdf", "plan.pdf"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    asked = "Who won the contract for the guarantee of the cathedral in Salzburg?"
    supervise("run", asked, "--file", str(tmp_path), "--thread", "unread", "-q")

    assert supervise("why", "unread") == 0

    lines = supervise.out.splitlines()
    causes = [line for line in lines if line[:2] in ("1.", "2.", "3.")]
    assert lines[0].startswith(f"{len(causes)} independent causes") and len(causes) == 3
    assert "as no file has words of the request: Nothing in memo.md" in supervise.out
    assert "as a file could not be read: drawing.pdf (" in supervise.out
    assert "as a file could not be read: plan.pdf (" in supervise.out
    assert "--file PATH (give it as text, Markdown, CSV or a PDF with text" in supervise.out
    assert "SUPERVISE_MODEL" not in supervise.out


def test_causes_of_one_kind_that_differ_are_all_shown_and_the_same_one_is_shown_once() -> None:
    def build(task: str, said: str) -> Cause:
        sentence = f"task {task} lacks a part, as the tool read_file failed: {said}"
        return Cause("tool_failed", task, "w", sentence, {}, (), (task,), (), "")

    causes = build("a", "no disk"), build("b", "no disk"), build("c", "no net")

    shown = format_explanation(Explanation("t", "partial", causes, (), ()), "the run")

    lines = [line.strip() for line in shown.splitlines() if line.strip()]
    assert lines == [
        "2 independent causes, in the order in which they happened:",
        f"1. {causes[0].sentence}.",
        "the same at: b",
        f"2. {causes[2].sentence}.",
    ]


def test_without_a_model_the_advice_is_to_set_one_and_not_to_change_a_workers_words(
    supervise: CapturedScreen, tmp_path: Path
) -> None:
    text = tmp_path / "text.md"
    text.write_text("Apples are red and round.\n")
    supervise("run", "sum up", "--file", str(text), "--thread", "lacks", "-q")

    assert supervise("why", "lacks") == 0

    assert "supervise doctor (says what to set for a language model)" in supervise.out
    assert "researcher.md" not in supervise.out and "supervise case" not in supervise.out


def test_a_failed_run_is_explained_by_its_first_event_and_what_helps(
    playing: Endpoint, supervise: CapturedScreen
) -> None:
    run(supervise, playing, "refused", Fault(kind="unauthorized", task="prices"))

    assert supervise("why") == 0

    assert supervise.out.startswith("task prices (researcher) failed, as the model's endpoint")
    assert "event: model_call at" in supervise.out and "error UNAUTHORIZED" in supervise.out
    assert "chain: ranking was skipped <- prices failed" in supervise.out
    assert "what helps: OPENAI_API_KEY" in supervise.out
    assert supervise("why", "refused", "ranking", "--json") == 0
    (cause,) = json.loads(supervise.out)["causes"]
    assert (cause["kind"], cause["task"]) == ("unauthorized", "prices")


def test_a_report_that_is_always_refused_is_explained_by_what_was_wrong_with_it(
    playing: Endpoint, supervise: CapturedScreen, tmp_path: Path
) -> None:
    reader = "description: Counts passengers.\ntier: fast\nmax_turns: 2"
    team = write_team(tmp_path / "ferry", "description: Counts.\nladder: [refine]", reader=reader)
    task = ScriptedTask(id="count", worker="reader", report=[{"status": "complete"}])
    playing.load_scenario(Scenario(tasks=(task,)))
    supervise("run", "How many?", "--team", str(team), "--thread", "odd", "-q")

    assert supervise("why", "odd") == 0

    assert "refused 3 times: status: " in supervise.out and "'completed'" in supervise.out
    assert "SUPERVISE_MODEL_FAST" in supervise.out and "max_turns" not in supervise.out


def test_a_run_without_a_fault_says_so_and_an_unknown_thread_or_task_gets_one_line(
    playing: Endpoint, supervise: CapturedScreen
) -> None:
    run(supervise, playing, "fine")

    assert supervise("why", "fine") == 0
    assert supervise.out == "Nothing failed: the run is done.\n"
    assert supervise("why", "fine", "nothing") == 2
    assert "error[TASK_UNKNOWN]" in supervise.err and "prices, ranking" in supervise.err
    assert supervise("why", "nowhere") == 2 and "error[THREAD_UNKNOWN]" in supervise.err
    assert supervise("failures", "--since", "soon") == 2 and "7d" not in supervise.out


def test_failures_are_counted_over_runs_and_damaged_traces_are_named(
    playing: Endpoint, supervise: CapturedScreen
) -> None:
    fault = Fault(kind="unauthorized", task="prices")
    run(supervise, playing, "one", fault)
    run(supervise, playing, "two", fault)
    run(supervise, playing, "fine")
    write_log("torn", {"kind": "plan_created", "plan": {"tasks": 3}})

    assert supervise("failures") == 0
    assert "3 runs in the last 7d, 2 of them" in supervise.out
    assert "\nunauthorized" in supervise.out and "researcher 2" in supervise.out
    assert "the trace of torn cannot be read" in supervise.err
    assert supervise("failures", "--team", "code_review", "--json") == 0
    assert json.loads(supervise.out)["runs"] == 0


def test_contradictions_are_counted_by_pair_of_workers(supervise: CapturedScreen) -> None:
    claims = [{"text": f"It costs {cost} euros", "source": f"{cost}.md"} for cost in (4, 5)]
    events: list[dict[str, Any]] = [{"kind": "request", "team": "t"}]
    tasks = [{"id": name, "description": "x", "worker": name} for name in ("a", "b")]
    events += [{"kind": "plan_created", "plan": {"goal": "x", "tasks": tasks}}]
    for name, claim in zip("ab", claims, strict=True):
        report = {"status": "completed", "output": "x", "worker": name, "claims": [claim]}
        events += [{"task": name, "kind": "report", "report": report}]
    answer = {"text": "x", "contradictions": [{"subject": "cost", "claims": claims}]}
    events += [{"kind": "answer", "status": "done", "answer": answer, "usage": {}, "timing": {}}]
    write_log("torn", *events)

    supervise("failures")

    assert "conflict: a and b contradict each other in 1 run, such as torn" in supervise.out


def test_words_of_a_trace_reach_no_terminal_as_they_are(supervise: CapturedScreen) -> None:
    report = {"status": "failed", "error": "\x1b[2Jgone\nerror[X] no", "output": "", "worker": "w"}
    events: list[dict[str, Any]] = [
        {"kind": "request", "team": "t"},
        {"kind": "plan_created", "plan": PLAN},
    ]
    write_log("hostile", *events, {"task": "a", "kind": "report", "report": report})

    assert supervise("why", "hostile") == 0

    assert "\x1b" not in supervise.out and "gone error[X] no" in supervise.out


def test_a_clock_that_went_back_is_noted_and_the_order_is_that_of_the_log() -> None:
    failed = {"status": "failed", "error": "ENDPOINT_FAILED: 503", "output": ""}
    about = {"task": "a", "worker": "w", "purpose": "report"}
    events = [
        {**HEAD, "t": 50.0, "kind": "request", "team": "t"},
        {**HEAD, "t": 51.0, "kind": "plan_created", "plan": PLAN},
        {**HEAD, **about, "t": 52.0, "kind": "task_started", "attempt": 1},
        {**HEAD, **about, "t": 1.0, "kind": "model_call", "error": "ENDPOINT_FAILED", "tries": 4},
        {**HEAD, **about, "t": 2.0, "kind": "report", "report": failed},
    ]

    why = explain(build_trace(events))

    assert why.causes[0].event["t"] == 1.0 and "went back by 51.0 s" in why.notes[-1]


@given(JSON, JSON, JSON, JSON)
def test_no_trace_breaks_it(run: Any, plans: Any, tasks: Any, events: Any) -> None:
    kinds = [{**HEAD, "kind": kind} for kind in ("answer", "report", "error", "task_started")]
    mixed = [*kinds, *(events if isinstance(events, list) else [events])]
    trace = {"run": run, "plans": plans, "tasks": tasks, "events": mixed}

    found = count_failures(["one"], lambda _: trace, lambda _: True)

    assert found.runs + len(found.unreadable) == 1
    try:
        explain(trace)
        explain({"run": run, "plans": [PLAN], "tasks": [{"id": "a", "report": run}]}, "a")
    except (TraceUnreadable, TaskUnknown):
        pass


def test_each_kind_has_words_and_its_mode_is_one_of_the_published() -> None:
    kinds = load_fault_kinds()

    assert all(kind.words for kind in kinds.values())
    assert all(not kind.mast or kind.mast in MAST_MODES for kind in kinds.values())


def test_the_table_names_settings_and_files_that_exist() -> None:
    root = Path(__file__).parents[4]
    known = (root / ".env.example").read_text() + (root / "docs/guide/teams.md").read_text()
    remedies = [each for kind in load_fault_kinds().values() for each in kind.remedies]
    named = {each.name for each in remedies}
    of_worker = [each.text for each in remedies if each.kind == "worker's file"]
    keys = {name.strip(":") for text in of_worker for name in text.split("`")[1::2]}

    plain = {name for name in named if name.startswith("SUPERVISE_") and "{" not in name}
    assert plain and all(name in known for name in plain)
    assert keys and keys <= set(WorkerKeys.model_fields)
    assert all(f"SUPERVISE_MODEL_{tier}" in known for tier in ("FAST", "STANDARD", "STRONG"))
