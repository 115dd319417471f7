"""Records that are cut, damaged, huge, or another's: a replay, or one line; no other end."""

import copy
import os
import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from extensions.replay.record_file import RecordUnreadable, read_record
from extensions.replay.replayer import Replayed
from extensions.replay.tape import ReplayMissed
from tests.screen import CapturedScreen
from tests.unit.extensions.replay.kept_records import (
    Line,
    find_entry,
    list_places,
    replay_file,
    try_replay,
    write_entries,
)

VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 1e9, 1e308, 1e400, 2**63, 10**400, "", "x", "../../x", "\ud800"),
    *("\x1b[31m", [], {}, [None], {"a": 1}, [[1]], ["model", "plan", "", 0]),
)


def list_pairs(values: dict[str, tuple[Any, ...]]) -> list[tuple[str, Any]]:
    return [(key, value) for key, some in values.items() for value in some]


KINDS = ("effect", "event", "point", "stop", "readings", "end", "segment", "cut", "in", "asked")


def test_the_words_of_a_record_do_not_reach_a_terminal_as_they_are(
    lines: list[Line], tmp_path: Path
) -> None:
    changed = copy.deepcopy(lines)
    find_entry(changed, "point")["point"] = "\x1b[31m"

    missed = try_replay(write_entries(tmp_path / "words.record", changed))

    assert isinstance(missed, ReplayMissed) and "does not come to" in missed.cause


@pytest.mark.slow
def test_a_record_that_is_cut_anywhere_is_replayed_or_refused_in_one_line(
    kept: Path, tmp_path: Path
) -> None:
    data, path = kept.read_bytes(), tmp_path / "cut.record"
    for cut in (0, 9, 10, *random.Random(1).sample(range(len(data)), 6), len(data) - 9):
        path.write_bytes(data[:cut])
        found = try_replay(path)
        if isinstance(found, Replayed):
            assert not found.is_whole or found.record.is_cut or cut > len(data) - 10


@pytest.mark.slow
def test_a_record_with_other_bytes_is_replayed_or_refused_in_one_line(
    kept: Path, tmp_path: Path
) -> None:
    data, path, chance = kept.read_bytes(), tmp_path / "damaged.record", random.Random(2)
    for _ in range(8):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try_replay(path)


@pytest.mark.slow
def test_members_in_another_order_or_twice_are_replayed_or_refused_in_one_line(
    kept: Path, tmp_path: Path
) -> None:
    unzip, data = zlib.decompressobj(31), kept.read_bytes()
    unzip.decompress(data)
    second = unzip.unused_data
    first, path = data[: -len(second)], tmp_path / "members.record"
    for members in (second + first, first + first, second + second, second):
        path.write_bytes(members)
        try_replay(path)
    path.write_bytes(second + b"no member")
    assert read_record(path).is_cut


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(st.data())
def test_a_record_with_other_values_is_replayed_or_refused_in_one_line(
    kept: Path, lines: list[Line], tmp_path: Path, data: st.DataObject
) -> None:
    changed = copy.deepcopy(lines)
    for _ in range(data.draw(st.integers(1, 3))):
        entry = data.draw(st.sampled_from([line for line in changed if isinstance(line, dict)]))
        *way, last = data.draw(st.sampled_from(list(list_places(entry)) or [("x",)]))
        holder: Any = entry
        for key in way:
            holder = holder[key]
        how = data.draw(st.sampled_from(("replace", "remove", "add", "repeat", "move")))
        match how:
            case "replace":
                holder[last] = data.draw(st.sampled_from(VALUES))
            case "remove" if not isinstance(holder, dict) or last in holder:
                del holder[last]
            case "add" if isinstance(holder, dict):
                holder[data.draw(st.sampled_from(KINDS))] = data.draw(st.sampled_from(VALUES))
            case "repeat":
                changed.insert(data.draw(st.integers(0, len(changed))), copy.deepcopy(entry))
            case "move":
                changed.remove(entry)
                changed.insert(data.draw(st.integers(0, len(changed))), entry)

    try_replay(write_entries(tmp_path / "changed.record", changed))


NO_ENTRIES = (
    *("[" * 1_000_000, '{"event":' * 100 + "1" + "}" * 100, '{"point":' + "9" * 5_000 + "}"),
    *("[]", "null", "7", '"text"', "{", '{"point":"\\ud800"}', '{"end":[]}', '{"segment":{}}'),
    *('{"segment":[]}', '{"readings":[[[],0,1]]}', '{"effect":1}', '{"event":{}}', "\x00"),
)


@pytest.mark.parametrize("line", NO_ENTRIES)
def test_a_line_that_is_no_entry_is_refused_wherever_it_is(
    lines: list[Line], tmp_path: Path, line: str
) -> None:
    for place in (0, 5, len(lines)):
        written: list[Any] = [*lines]
        written.insert(place, line)
        path = write_entries(tmp_path / "line.record", written)
        with pytest.raises((RecordUnreadable, ReplayMissed)):
            replay_file(path)


@pytest.mark.parametrize("version", [0, 2, None, "1", {}, True])
def test_a_record_of_another_version_says_which_one_is_read(
    lines: list[Line], tmp_path: Path, version: Any
) -> None:
    changed = copy.deepcopy(lines)
    find_entry(changed, "segment", 1)["segment"]["version"] = version

    if version is True:  # is equal to 1, also in JSON's own eyes
        version, changed[0] = 1, {"segment": {"version": 7}}
    with pytest.raises(RecordUnreadable, match=r"it is of version .*, this program reads 1"):
        read_record(write_entries(tmp_path / "other.record", changed))


BEGINNINGS: dict[str, tuple[Any, ...]] = {
    "thread": ("../../x", "..", "a/b", "x" * 65),
    "elapsed_s": (1e308, -1, None),
    "models": ({"fast": "openai:x"}, []),
    "input": ([], ["msgpack", "%%%"], ["pickle", "gASVAAAAAAAAAC4="], ["json", "e30="]),
    "checkpoints": ([["msgpack", "wA=="]], {}),
    "context": ({"no_such_setting": 1}, {"max_tokens": "many"}),
    "settings": ({"deadline_s": "soon"},),
    "kept_materials": ({"a": 1},),
    "given_plan": ({"goal": "x"},),
    "team": ({}, {"workers": [{}] * 100_000}),
}


@pytest.mark.parametrize(("key", "value"), list_pairs(BEGINNINGS))
def test_a_part_that_begins_with_other_values_is_refused(
    lines: list[Line], tmp_path: Path, key: str, value: Any
) -> None:
    changed = copy.deepcopy(lines)
    find_entry(changed, "segment")["segment"][key] = value

    with pytest.raises(RecordUnreadable):
        replay_file(write_entries(tmp_path / "begun.record", changed))


EFFECTS: dict[str, tuple[Any, ...]] = {
    "heard": (5, [5]),
    "at": ([0, 1e308], [-1, 0], "now"),
    "key": (["model", "plan"], [[], {}, None, ""]),
    "sections": ([], {"model": 5}),
    "effect": (-1,),
    "cut": ("yes",),
    "asked": ([{}], {"a": 1}),
    "failure": ({}, "failed"),
    "readings": ("x", [[]], [["elapsed ", "first", 0.0]], [["elapsed A", 0, "soon"]]),
}


@pytest.mark.parametrize(("key", "value"), list_pairs(EFFECTS))
def test_an_effect_with_a_part_of_another_form_is_refused(
    lines: list[Line], tmp_path: Path, key: str, value: Any
) -> None:
    changed = copy.deepcopy(lines)
    find_entry(changed, "effect", 3)[key] = value

    with pytest.raises(RecordUnreadable):
        replay_file(write_entries(tmp_path / "effect.record", changed))


@pytest.mark.parametrize(
    "t", [None, "soon", -1, 1e10, [1], {"a": 1}], ids=lambda value: type(value).__name__
)
@pytest.mark.parametrize("name", ["t", "seconds"])
def test_an_event_of_a_record_has_the_clock_of_a_run(
    lines: list[Line], tmp_path: Path, t: Any, name: str
) -> None:
    changed = copy.deepcopy(lines)
    find_entry(changed, "event", 1)["event"][name] = t

    with pytest.raises(RecordUnreadable):
        replay_file(write_entries(tmp_path / "event.record", changed))


def test_a_record_that_claims_years_is_replayed_without_waiting(
    lines: list[Line], tmp_path: Path
) -> None:
    changed, at = copy.deepcopy(lines), 999_999_999.0
    find_entry(changed, "event", -1)["event"]["t"] = at
    find_entry(changed, "effect", -1)["at"] = [0.0, at]

    done = replay_file(write_entries(tmp_path / "years.record", changed))

    assert done.recorded_s == at and done.seconds < 10


def test_what_only_a_killed_attempt_has_emitted_is_shown_and_changes_nothing(
    lines: list[Line], tmp_path: Path
) -> None:
    event = {"t": 0.1, "kind": "model_call", "task": "\x1b[2J", "worker": "w", "tries": [{}]}
    changed = [*lines[:-1], {"event": event, "in": 999}, lines[-1]]

    done = replay_file(write_entries(tmp_path / "orphan.record", changed))

    assert done.is_equal and len(done.events) == len(replay_file(tmp_path / "orphan.record").events)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.record")
    for path in (tmp_path / "pipe.record", tmp_path, Path("/dev/zero")):
        with pytest.raises(RecordUnreadable, match="it is no file"):
            read_record(path)


def test_the_command_says_in_one_line_what_is_wrong(
    kept: Path, lines: list[Line], tmp_path: Path, supervise: CapturedScreen
) -> None:
    damaged = tmp_path / "damaged.record"
    damaged.write_bytes(b"no record")
    changed = write_entries(tmp_path / "changed.record", [*lines[:-2], lines[-1]])

    for path, code, said in (
        (kept, 0, ""),
        (damaged, 2, "error[RECORD_UNREADABLE]"),
        (changed, 3, "error[REPLAY_MISSED]"),
        (tmp_path / "none.record", 2, "error[RECORD_MISSING]"),
    ):
        assert supervise("replay", "--record", str(path), "--quiet") == code
        assert supervise.err.startswith(said) and len(supervise.err.splitlines()) == bool(said)
