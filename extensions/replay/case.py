"""Makes a row of a team's exam of a kept run, so that its failure is a test tomorrow."""

import gzip
import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import orjson

from extensions.replay.record_file import Record, read_record
from extensions.replay.record_members import read_lines
from extensions.replay.replayer import Replayed, refuse_other_values, replay_record
from extensions.replay.show import open_record
from graph.commands.output import print_text
from graph.display.stderr_console import print_to_stderr
from graph.runs.run_record import OWN_KEY, load_run_record
from graph.runs.trace import ThreadUnknown
from graph.settings import Settings
from graph.stores.thread_locks import check_thread_id
from graph.teams.team_folder import TEAM_FILE
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, check_team, find_team, load_team
from graph.topology.blocking_portal import get_portal
from nodes.errors import OutputFailed, UsageError, translate_os_errors
from nodes.schemas.team import Team
from nodes.text.counts import format_count
from nodes.text.finite_json import parse_finite_json

EXAM_FILE: Final = "evals.jsonl"


class CaseRefused(UsageError):
    """A run can be no row of an exam."""


def make_case(
    thread: str,
    settings: Settings,
    *,
    path: Path | None = None,
    team: str | None = None,
    name: str | None = None,
    facts: Sequence[str] = (),
    status: str | None = None,
) -> int:
    """Add a kept run that replays equal with its team as it is now to the team's exam.

    Raises:
        CaseRefused: the run is not whole, its team has no folder here, it does not replay equal,
            or the exam does not take the row.
        ReplayMissed: it asks for something else than its record has.
        RecordMissing, RecordUnreadable, OutputFailed: a file cannot be used.
    """
    record = open_record(thread, settings, path)
    folder = find_team(team, settings) if team else _find_folder(record, settings)
    examined, name = load_team(folder, settings), check_thread_id(name or record.thread)
    with TemporaryDirectory(prefix="supervise-case-") as place:
        draft = Path(place) / "draft.record"
        draft.write_bytes(hide_tool_folders(record.path))
        done = replay_record(read_record(draft), team=examined)
        if record.is_cut or not done.is_whole or done.differing:
            whole = f"it is not equal in {', '.join(done.differing)}" if done.differing else ""
            raise CaseRefused("the run can be no case", cause=whole or "its record has no end")
        row = {"id": name, **_build_row(done, examined, facts, status)}
        folder = (
            folder if team and Path(team).name != team else _choose_own_folder(folder, settings)
        )
        copy = _add_row(folder, row, draft.read_bytes(), settings)
    print_text(f"{folder / EXAM_FILE} has the row {name} now, with records/{copy.name}")
    places = [str(each.resolve()).encode() for each in (Path.home(), Path.cwd(), folder)]
    lines = gzip.decompress(copy.read_bytes()).split(b"\n")
    if named := sum(any(each in line for each in places) for line in lines):
        said = f"{format_count(named, 'line')} of the record with a folder of yours in its texts"
        print_to_stderr(f"note: {said}", style="yellow")
    answer = done.outcome.answer.text.casefold() if done.outcome.answer else ""
    for fact in facts:
        if not fact.startswith("/") and fact.casefold() not in answer:
            print_to_stderr(f"note: the answer does not say {fact!r}", style="yellow")
    if not facts:
        print_to_stderr("what the answer must say is yours to add: --expect-fact, or `facts`")
    print_to_stderr(f"next: supervise eval {folder} --replayed --only {name}", style="dim")
    return 0


def _find_folder(record: Record, settings: Settings) -> Path:
    """Return the folder of a run's team, as the run's log has it."""
    kept: dict[str, Any] = {}
    with suppress(ThreadUnknown):
        kept = get_portal().call(load_run_record(check_thread_id(record.thread), settings))
    source = kept.get("source") if kept.get(OWN_KEY) else None
    if isinstance(source, str) and (Path(source) / TEAM_FILE).is_file():
        return Path(source)
    raise CaseRefused(
        "the run's team has no folder that is known here",
        cause="it is no folder, or the run is not yours or of another machine",
        next="name the folder: --team FOLDER",
    )


def _choose_own_folder(folder: Path, settings: Settings) -> Path:
    """Return the folder whose exam takes the row: of a shipped team a copy, which is the user's.

    Raises:
        OutputFailed: it cannot be copied.
    """
    if folder.resolve().parent != SHIPPED_TEAMS_FOLDER:
        return folder
    own = settings.home / "cases" / folder.name
    if not own.exists():
        others = shutil.ignore_patterns(EXAM_FILE, "sample", "records", "__pycache__")
        with translate_os_errors(OutputFailed, f"cannot write {own}", next="--team FOLDER"):
            shutil.copytree(folder, own, ignore=others)
    return own


def _build_row(
    done: Replayed, team: Team, facts: Sequence[str], status: str | None
) -> dict[str, Any]:
    """Return the request, and what is expected: what the run has shown, and a user's facts."""
    plan, answer = done.outcome.plan, done.outcome.answer
    known = {worker.name for worker in team.workers}
    tasks = plan.tasks if plan and not plan.is_by_rule else ()  # a rule's plan passes no exam
    expect = {
        "workers": [*dict.fromkeys(task.worker for task in tasks if task.worker in known)],
        "facts": [*facts],
        "sources": [*dict.fromkeys(answer.sources)] if answer else [],
        "status": status or done.outcome.status,
    }
    kept = {key: value for key, value in expect.items() if value}
    return {"request": done.values["request"], "expect": kept}


def _add_row(folder: Path, row: dict[str, Any], record: bytes, settings: Settings) -> Path:
    """Write a row and its record, unless the team has a problem then; return the record's path."""
    exam, copy = folder / EXAM_FILE, folder / "records" / f"{row['id']}.record"
    try:
        before = exam.read_bytes() if exam.exists() else b""
        copy.parent.mkdir(exist_ok=True)
        with open(copy, "xb") as file:
            file.write(record)
        line = json.dumps({**row, "record": f"records/{copy.name}"}, ensure_ascii=False) + "\n"
        gap = b"\n" if before and not before.endswith(b"\n") else b""
        exam.write_bytes(before + gap + line.encode("utf-8", "replace"))
        if problems := check_team(folder, settings):
            copy.unlink()
            exam.write_bytes(before) if before else exam.unlink()
            raise CaseRefused("the row cannot be added", cause=problems[0], kept="the exam")
    except OSError as error:
        cause = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise OutputFailed(
            "the row cannot be added", cause=cause, next="another --id, or folder"
        ) from None
    return copy


def hide_tool_folders(path: Path) -> bytes:
    """Return a record without the folders of its team's tools, which are this machine's.

    Raises:
        RecordUnreadable: it has another form.
    """
    lines = []
    with refuse_other_values(path):
        for line, _ in read_lines(path):
            entry = parse_finite_json(line.decode() or "{}")
            if "segment" in entry:
                _drop_tool_folders(entry["segment"]["team"])
                line = orjson.dumps(entry)
            lines.append(line)
    return gzip.compress(b"\n".join([*lines, b""]), mtime=0)


def _drop_tool_folders(team: dict[str, Any]) -> None:
    for tool in team["own_tools"].values():
        tool["folder"] = None
    for worker in team["workers"]:
        if worker["team"]:
            _drop_tool_folders(worker["team"])
