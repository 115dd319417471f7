"""A canary for a key: whatever repeats it, no byte that is written holds it."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from graph.cli import main
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask

pytestmark = pytest.mark.slow

CANARY = "sk-canary-7f3e9a1b5c2d8e4f"
PASSWORD = "pass-canary-0a1b2c3d"
FORMS = [
    form
    for secret in (CANARY, PASSWORD)
    for form in (secret, quote(secret), base64.b64encode(secret.encode()).decode().rstrip("="))
]
FILE = ("search_documents", {"query": f"what is the key {CANARY}"})
WRITE = ("format_document", {"markdown": f"# Key\n\n{CANARY}", "title": f"key {CANARY}"})
LEAKY = {
    "output": f"The key is {CANARY}, or {base64.b64encode(CANARY.encode()).decode()}.",
    "claims": [{"text": f"Key: {CANARY}", "source": "keys.md", "quotation": CANARY}],
    "findings": [{"severity": "high", "message": f"A key: {CANARY}", "file": "keys.md"}],
}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Endpoint]:
    folder = Path("teams/desk")
    folder.mkdir(parents=True)
    (folder / "team.md").write_text("---\ndescription: Keys.\n---\nA task for each key.\n")
    for name, tool in (("clerk", "search_documents"), ("writer", "format_document")):
        (folder / f"{name}.md").write_text(
            f"---\ndescription: Reads and writes.\ntools: [{tool}]\n---\nWork.\n"
        )
    Path("keys.md").write_text(f"The key of the shop is {CANARY}.\n")
    with Endpoint(Scenario()).run_in_thread() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.setenv("SUPERVISE_SQL_URL", f"postgresql://reader:{PASSWORD}@127.0.0.1:9/shop")
        monkeypatch.setenv("SUPERVISE_TEAMS", str(folder.parent))
        yield endpoint


def run_supervise(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


def read_written_files(but: set[str]) -> dict[str, bytes]:
    """Collect every file below the working folder, but for those that the user wrote."""
    files = (path for path in Path().rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if str(path) not in but}


def list_leaks(capsys: pytest.CaptureFixture[str], before: set[str]) -> list[str]:
    out, err = capsys.readouterr()
    result = {"stdout": out.encode(), "stderr": err.encode(), **read_written_files(before)}
    assert len(result) > 3, "the run has written a trace and a database"
    return [name for name, data in result.items() for form in FORMS if form.encode() in data]


def make_scenario(**fields: Any) -> Scenario:
    tasks = (
        ScriptedTask(
            id="read",
            worker="clerk",
            description=f"Find in keys.md the key {CANARY} of the shop.",
            tool_calls=(FILE,),
            report=LEAKY,
            materials=("keys.md",),
        ),
        ScriptedTask(
            id="write",
            worker="writer",
            depends_on=("read",),
            tool_calls=(WRITE,),
            report={"output": f"Written: {quote(CANARY)}"},
        ),
    )
    answer = {"text": f"The key is {CANARY}.", "sources": ["keys.md"], "gaps": [CANARY]}
    return Scenario(tasks=tasks, **{"answers": {"Answer": answer}, **fields})


@pytest.mark.parametrize(
    ("played", "code"),
    [
        (make_scenario(), 0),
        (make_scenario(answers={"Plan": f"no plan, but {CANARY}"}), 3),
        (make_scenario(api_key="sk-another"), 4),
        (make_scenario(faults=(Fault(kind="server_error", schema="Report", task="write"),)), 3),
    ],
    ids=["all goes well", "no plan", "the key is refused", "a worker's endpoint fails"],
)
def test_no_byte_that_is_written_holds_the_key_or_a_password(
    served: Endpoint, capsys: pytest.CaptureFixture[str], played: Scenario, code: int
) -> None:
    served.load_scenario(played)
    before = {str(path) for path in Path().rglob("*")}
    request = f"Write down what keys.md says of the key {CANARY}."

    ended = run_supervise(
        *("run", request, "--team", "desk", "--file", "keys.md", "--thread", "canary"),
        *("--trace", "trace.json"),
    )
    for command in (("show",), ("trace",), ("resume",)):
        run_supervise(*command, "canary")
    run_supervise("doctor")

    assert ended == code
    assert list_leaks(capsys, before) == []
