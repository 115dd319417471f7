"""Records that an attacker has made: data, of which nothing runs, and of a bounded size."""

import asyncio
import base64
import copy
import gzip
import zlib
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langgraph.types import Command, Send

from extensions.replay.record_file import RecordUnreadable, decode_value, read_record
from extensions.replay.replayer import Replayed
from extensions.replay.run_state import encode_value
from tests.unit.extensions.replay.kept_records import (
    Line,
    find_entry,
    read_entries,
    record_run,
    replay_file,
    try_replay,
    watch_replays,
    write_entries,
)

HOSTILE_TOOL = """
from pathlib import Path
Path({mark!r}).write_text("run")
from langchain_core.tools import tool

@tool
def calculate(expression: str) -> str:
    "Calculate."
    return "12"
"""


def encode_call(module: str, name: str, *arguments: Any) -> list[str]:
    """Return a list of values as checkpoints have them, whose reader is told to call something."""
    call = ormsgpack.packb([module, name, arguments])
    calls = [ormsgpack.Ext(code, call) for code in range(8)]
    content = ormsgpack.packb(["", {"id": "1", "channel_values": {"x": calls}}, {}, []])
    return ["msgpack", base64.b64encode(content).decode()]


def list_hostile_changes(folder: Path) -> dict[str, Line]:
    """Return what an attacker writes into the beginning of a record, by what it would do."""
    tool = {"folder": str(folder), "reads": [], "sends": "nothing"}
    server = {"command": "touch", "args": [str(folder / "touched")]}
    far = {"url": "http://127.0.0.1:9/mcp"}
    remote = {"protocol": "a2a", "url": "http://127.0.0.1:9/agent"}
    worker = {"name": "one", "description": "x", "instructions": "x", "tools": ["calculate"]}
    inner = {"name": "inner", "description": "x", "guidance": "x", "workers": [worker]}
    called = encode_call("hostile_module", "run", "x")
    return {
        "a tool of a folder": {"own_tools": {"calculate": tool}},
        "a server that is a program": {"mcp_servers": {"hostile": server}},
        "a server far away": {"mcp_servers": {"hostile": far}},
        "a worker far away": {"workers": {"remote": remote, "instructions": "", "tools": []}},
        "a tool of a module": {"workers": {"tools": ["calculate", "hostile_module:run"]}},
        "a tool of a server": {"workers": {"tools": ["calculate", "mcp:hostile/run"]}},
        "tools for specialists": {"grant": ["hostile_module:run"], "recruit": True},
        "a team with a tool": {
            "workers": {"team": {**inner, "own_tools": {"calculate": tool}}, "tools": []}
        },
        "a checkpoint that calls": {"checkpoints": [called]},
        "an input that calls": {"input": called},
        "an input that calls a shell": {"input": encode_call("os", "system", f"touch {folder}/x")},
        "a thread elsewhere": {"thread": "../../hostile"},
        "a setting that is an address": {"settings": {"redis_url": "redis://127.0.0.1:9"}},
    }


def change_begun(begun: Line, change: Line) -> None:
    """Change a part's beginning, its team, or the first worker of that."""
    for key, value in change.items():
        if key == "workers":
            begun["team"]["workers"][0] |= value
        elif key in begun["team"]:
            begun["team"][key] = value
        elif isinstance(begun[key], dict):
            begun[key] |= value
        else:
            begun[key] = value


@pytest.mark.slow
def test_nothing_of_a_record_runs_imports_connects_or_writes(
    tmp_path: Path,
) -> None:
    kept = asyncio.run(record_run(tmp_path / "own", asks=False))
    lines = read_entries(kept)
    folder, mark = tmp_path / "hostile", tmp_path / "marked"
    folder.mkdir()
    for path in (folder / "calculate.py", tmp_path / "hostile_module.py"):
        path.write_text(HOSTILE_TOOL.format(mark=str(mark)))
    changes = list_hostile_changes(folder)
    paths = [kept]
    for number, change in enumerate(changes.values()):
        changed = copy.deepcopy(lines)
        for line in changed:
            if "segment" in line:
                change_begun(line["segment"], change)
        paths.append(write_entries(tmp_path / f"{number}.record", changed))

    found = watch_replays(kept, *paths, module_folder=tmp_path)

    endings = dict(zip(["as it is", *changes], found["endings"], strict=True))
    assert found["seen"] == [] and found["is_watched"] and not mark.exists()
    assert [path.name for path in folder.iterdir()] == ["calculate.py"]
    # What is not asked for outside is not needed, either.
    assert {name for name, ending in endings.items() if ending == "equal"} == {
        *("as it is", "a tool of a folder", "a server that is a program", "a server far away"),
        "a setting that is an address",
    }


def test_a_setting_that_no_record_holds_is_not_taken_from_one(
    lines: list[Line], tmp_path: Path
) -> None:
    changed = copy.deepcopy(lines)
    for line in changed:
        if "segment" in line:
            line["segment"]["settings"] |= {
                "openai_base_url": "no address",
                "database_url": "no address",
                "sql_url": 5,
            }

    assert replay_file(write_entries(tmp_path / "settings.record", changed)).is_equal


@pytest.mark.parametrize(
    "failure",
    [
        {"class": "SystemExit", "said": "7"},
        {"class": "os.system", "said": "touch PWNED"},
        {"class": "KeyboardInterrupt", "said": ""},
        {"class": "SupervisorError", "said": "x", "fields": {"exit_code": 77, "code": "\x1b[31m"}},
        {"class": "BadResponse", "said": "x", "fields": {"format_line": "x", "__notes__": 5}},
        {"class": "BudgetSpent", "said": "x", "fields": {"__class__": "x", "__dict__": {}}},
        {"class": "ThreadBusy", "said": "x", "fields": {"what": None, "next": [1]}},
        {"class": "ModelError", "said": "x", "fields": {}, "usage": {"model_calls": "many"}},
        {"class": ["ModelError"], "said": "x"},
        {"said": "x"},
    ],
)
def test_an_error_of_a_record_is_of_a_known_class_and_keeps_its_methods(
    lines: list[Line], tmp_path: Path, failure: dict[str, Any]
) -> None:
    changed = copy.deepcopy(lines)
    entry = find_entry(changed, "effect", 1)
    entry["failure"] = failure
    del entry["value"]

    found = try_replay(write_entries(tmp_path / "failure.record", changed))

    error = found.outcome.error if isinstance(found, Replayed) else found
    if error:
        assert error.exit_code in range(1, 7) and error.format_line().isprintable()


def test_an_input_is_no_way_to_another_node(lines: list[Line], tmp_path: Path) -> None:
    sends = [Send("researcher", {"task": "x"})] * 10
    for value in (
        Command(goto="researcher"),
        Command(goto="no such node"),
        Command(goto=sends),
        Command(goto=["supervisor", "critic"]),
        Command(graph=Command.PARENT, goto="supervisor"),
        sends[0],
        [1, 2],
        "text",
        b"bytes",
    ):
        changed = copy.deepcopy(lines)
        find_entry(changed, "segment")["segment"]["input"] = encode_value(value)
        with pytest.raises(RecordUnreadable, match="the input of the run is none"):
            replay_file(write_entries(tmp_path / "input.record", changed))


@pytest.mark.slow
def test_small_values_that_stand_for_very_much_work_are_refused(
    lines: list[Line], tmp_path: Path
) -> None:
    def name_parts(changed: list[Line]) -> None:
        parts: Any = {
            f"a{n}": {
                "type": "object",
                "properties": {k: {"$ref": f"#/$defs/a{n + 1}"} for k in "xy"},
            }
            for n in range(40)
        }
        schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/a0"}}, "$defs": parts}
        find_entry(changed, "tools")["described"][0]["parameters"] = schema

    def begin_tasks(changed: list[Line]) -> None:
        begun = find_entry(changed, "segment", 1)["segment"]
        ns, checkpoint, metadata, writes = decode_value(begun["checkpoints"][0])
        checkpoint["channel_values"]["sent"] = [Send("researcher", {"task": "x"})] * 100_000
        begun["checkpoints"][0] = encode_value([ns, checkpoint, metadata, writes])

    def add_parts(changed: list[Line]) -> None:
        changed += [find_entry(changed, "segment")] * 2_000

    def add_tools(changed: list[Line]) -> None:
        tools = find_entry(changed, "tools")["described"]
        tools += tools * 2_000

    def add_tasks(changed: list[Line]) -> None:
        plan = {"goal": "Many.", "tasks": [{"id": f"t{n}"} for n in range(10_000)]}
        find_entry(changed, "segment")["segment"]["given_plan"] = plan

    for change in (name_parts, begin_tasks, add_parts, add_tools, add_tasks):
        changed = copy.deepcopy(lines)
        change(changed)
        with pytest.raises(RecordUnreadable, match=r"deeper|more than|at most"):
            replay_file(write_entries(tmp_path / "work.record", changed))


@pytest.mark.slow
def test_too_many_values_are_refused_before_they_fill_the_memory(
    lines: list[Line], tmp_path: Path
) -> None:
    path = write_entries(tmp_path / "huge.record", [*lines, '{"x":[' + "[]," * 6_000_000 + "0]}"])

    with pytest.raises(RecordUnreadable, match="values"):
        read_record(path)


@pytest.mark.slow
def test_a_bomb_is_refused_before_it_is_unpacked(kept: Path, tmp_path: Path) -> None:
    path, zipped = tmp_path / "bomb.record", zlib.compressobj(9, zlib.DEFLATED, 31)
    block, data = b" " * 1_000_000, bytearray()
    for _ in range(50):
        data += zipped.compress(block)
    path.write_bytes(kept.read_bytes() + bytes(data) + zipped.flush())
    with pytest.raises(RecordUnreadable, match="a long line"):
        read_record(path)

    path.write_bytes(gzip.compress(b"") * 2_000)
    with pytest.raises(RecordUnreadable, match="more than"):
        read_record(path)
