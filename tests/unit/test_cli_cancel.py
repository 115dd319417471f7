"""`supervise` cancelled, stopped, continued, or read by nobody (X01, X02, X04, X07, X08)."""

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command_process import CommandProcess
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask
from tests.screen import run_supervise

REQUEST = "Compare part a of a.md with part b of b.md"
TOOLS = '''
import subprocess
import time
from pathlib import Path
from langchain_core.tools import tool

@tool
def block() -> str:
    """Block a thread, beside a process."""
    process = subprocess.Popen(["sleep", "60"])
    Path("began").touch()
    time.sleep(60)
    return "done"
'''
WORKER = "---\ndescription: Does parts.\n{tools}---\nWork.\n"
BLOCKING = ScriptedTask(id="b", worker="analyst", tool_calls=(("block", {}),))
TASKS = (ScriptedTask(id="a", worker="analyst"), ScriptedTask(id="b", worker="analyst"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix"),
]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    folder = Path("teams/parts")
    folder.mkdir(parents=True)
    (folder / "team.md").write_text("---\ndescription: Parts.\n---\nA task for each part.\n")
    (folder / "analyst.md").write_text(WORKER.format(tools=""))
    Path("slow_tools.py").write_text(TOOLS)
    with Endpoint(Scenario(tasks=TASKS)).run_in_thread() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden-0123456789")
        monkeypatch.setenv("SUPERVISE_TEAMS", str(folder.parent))
        yield endpoint


def start_command(served: Endpoint, *options: str) -> CommandProcess:
    environment = {
        "OPENAI_BASE_URL": served.base_url,
        "OPENAI_API_KEY": "sk-hidden-0123456789",
        "SUPERVISE_TEAMS": "teams",
    }
    arguments = ("run", REQUEST, "--team", "parts", "--thread", "one", *options)
    return CommandProcess(*arguments, folder=Path.cwd(), environment=environment)


def wait_until(command: CommandProcess, is_so: Callable[[], object]) -> None:
    while not is_so():
        assert command.is_running(), "it ended before it came so far"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("schema", "number", "kept"),
    [
        ("Plan", signal.SIGINT, "the request"),
        ("Report", signal.SIGTERM, "tasks a"),
        ("Answer", signal.SIGTERM, "tasks a, b"),
    ],
)
def test_x01_a_cancelled_run_says_what_is_kept_and_goes_on_later(
    served: Endpoint,
    schema: str,
    number: signal.Signals,
    kept: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    task = "b" if schema == "Report" else None
    hang = Fault(kind="hang", schema=schema, task=task)
    served.load_scenario(Scenario(tasks=TASKS, faults=(hang,)))
    command = start_command(served)
    wait_until(command, lambda: any(call.fault for call in served.requests))
    if schema == "Report":
        trace = Path(".supervise/traces/one.jsonl")
        wait_until(command, lambda: '"kind": "report"' in trace.read_text())

    command.send_signal(number)

    assert command.wait() == 130
    assert f"stopped. kept: {kept}. next: supervise resume one" in command.stderr
    assert "Traceback" not in command.stderr
    assert command.surviving_processes == []
    run_supervise("show", "one")
    shown, remarks = capsys.readouterr()
    assert ("b analyst: cut off" in shown) == (schema == "Report")
    assert "working" not in shown and "next: supervise resume one" in remarks
    served.load_scenario(Scenario(tasks=TASKS))
    assert run_supervise("resume", "one", "--quiet") == 0
    assert len([call for call in served.select_calls(task="a") if not call.client_gone]) == 1


def test_x02_a_tool_that_blocks_is_not_waited_for_and_its_process_is_ended(
    served: Endpoint,
) -> None:
    Path("teams/parts/analyst.md").write_text(WORKER.format(tools="tools: [slow_tools:block]\n"))
    served.load_scenario(Scenario(tasks=(TASKS[0], BLOCKING)))
    command = start_command(served)
    wait_until(command, Path("began").exists)

    command.send_signal(signal.SIGINT)

    assert command.wait() == 130
    assert "next: supervise resume one" in command.stderr
    assert command.surviving_processes == []


def test_x04_a_second_ctrl_c_ends_it_at_once_and_the_run_goes_on_later(served: Endpoint) -> None:
    served.load_scenario(Scenario(tasks=TASKS, faults=(Fault(kind="hang", schema="Answer"),)))
    command = start_command(served)
    wait_until(command, lambda: served.select_calls(schema="Answer"))

    command.send_signal(signal.SIGINT)
    command.send_signal(signal.SIGINT)

    assert command.wait() == 130
    assert "Traceback" not in command.stderr
    served.load_scenario(Scenario(tasks=TASKS))
    assert run_supervise("resume", "one", "--quiet") == 0
    assert len(served.select_calls(schema="Report")) == 2


def test_x07_a_deadline_ends_a_run_whose_tool_blocks(served: Endpoint) -> None:
    Path("teams/parts/analyst.md").write_text(WORKER.format(tools="tools: [slow_tools:block]\n"))
    served.load_scenario(Scenario(tasks=(TASKS[0], BLOCKING)))

    command = start_command(served, "--deadline", "5", "--json")

    assert command.wait() == 3
    outcome = json.loads(command.stdout)
    assert outcome["status"] == "partial"
    assert outcome["results"]["a"]["status"] == "completed"
    assert "the run's deadline" in outcome["results"]["b"]["error"]


def test_t04_a_run_whose_process_was_suspended_goes_on(served: Endpoint) -> None:
    latency = Fault(kind="latency", schema="Report", seconds=0.5)
    served.load_scenario(Scenario(tasks=TASKS, faults=(latency,)))
    command = start_command(served, "--json")
    wait_until(command, lambda: served.select_calls(schema="Report"))

    command.send_signal(signal.SIGSTOP)
    while any(call.ended_s is None for call in served.requests):
        time.sleep(0.02)
    command.send_signal(signal.SIGCONT)

    assert command.wait() == 0
    assert json.loads(command.stdout)["status"] == "done"
    assert len(served.select_calls(schema="Report")) == 2


def test_a_stopped_exam_prints_the_rows_that_it_has(served: Endpoint) -> None:
    rows = [{"id": i, "request": REQUEST, "expect": {"facts": ["a"]}} for i in ("one", "two")]
    Path("teams/parts/evals.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    served.load_scenario(
        Scenario(tasks=TASKS, faults=(Fault(kind="hang", schema="Plan", nth=(2,)),))
    )
    environment = {
        "OPENAI_BASE_URL": served.base_url,
        "OPENAI_API_KEY": "sk-hidden-0123456789",
        "SUPERVISE_TEAMS": "teams",
    }
    command = CommandProcess("eval", "parts", "--json", folder=Path.cwd(), environment=environment)
    wait_until(command, lambda: any(call.schema == "Answer" for call in served.requests))
    time.sleep(1.0)

    command.send_signal(signal.SIGINT)

    assert command.wait() == 130
    assert "1 row had been graded" in command.stderr
    shown = json.loads(command.stdout)
    assert shown["stopped"] and len(shown["sides"][0]["rows"]) == 1
