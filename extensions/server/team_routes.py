"""The routes of the pages: what a team is, its exam, the exams that were kept; answers for Word.

Only a caller whom the server's auth hook would accept gets an answer.
"""

from asyncio import to_thread
from collections.abc import Callable
from dataclasses import dataclass
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Final, get_args

from langgraph_sdk import Auth
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from extensions.server.authentication import get_authenticator
from extensions.server.live_page import HEADERS, PAGE_PATH
from graph.chat.attachments import explain_unread
from graph.extensions import find_first
from graph.pages.answer_file import write_word
from graph.pages.report import format_report
from graph.runs.materials import read_materials
from graph.settings import Settings
from graph.studio import SERVED_FOLDERS
from graph.teams.team_card import describe_team
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, list_teams, load_team
from nodes.errors import SupervisorError, TeamInvalid, UsageError
from nodes.errors.redaction import hide_folders, redact_text, redact_value
from nodes.schemas.team import Team
from nodes.text.finite_json import parse_finite_json
from nodes.text.plain_text import sanitize_line
from state import Tier

TEAMS_PATH: Final = f"{PAGE_PATH}/teams"
MAX_PROBLEMS: Final = 20
MAX_PROBLEM_CHARS: Final = 500
MAX_SENT_BYTES: Final = 50_000_000
"""Of a trace or an answer; traces of a thousand tasks have some megabytes."""
UNKNOWN_CODES: Final = ("TEAM_UNKNOWN", "EXAM_MISSING")
WORD_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
NO_STORE: Final = {**HEADERS, "Cache-Control": "no-store"}

Answer = Callable[[Request], Any]
"""Returns JSON or a response; one that is not a coroutine function is called in a thread."""


class TeamUnknown(UsageError):
    """The server has no such team, or the team no such row."""


def list_team_routes(settings: Settings) -> list[Route]:
    """Return the routes below `/supervise/teams`."""
    pages = _TeamPages(settings)
    paths: dict[str, Answer] = {
        "": pages.list_teams,
        "/{team}": pages.show_team,
        "/{team}/exams/{exam}": pages.show_exam,
        "/{team}/rows/{row}": pages.show_row,
    }
    written: dict[str, Answer] = {
        "answer.docx": _write_word,
        "report.html": _write_report,
        "unread": _explain_unread,
    }
    return [
        *(
            Route(f"{PAGE_PATH}/{name}", _Guarded(answer, settings).respond, methods=["POST"])
            for name, answer in written.items()
        ),
        *(
            Route(f"{TEAMS_PATH}{path}", _Guarded(answer, settings).respond)
            for path, answer in paths.items()
        ),
    ]


async def _write_word(request: Request) -> Response:
    """Return the Markdown that a caller has sent as a Word document."""
    text = await _read_text(request)
    document = await to_thread(write_word, text)
    return Response(document, media_type=WORD_TYPE, headers=NO_STORE)


async def _read_text(request: Request) -> str:
    """Return what a caller has sent.

    Raises:
        UsageError: it is too long; the rest is not read.
    """
    read = bytearray()
    async for part in request.stream():
        read += part
        if len(read) > MAX_SENT_BYTES:
            most = f"at most {MAX_SENT_BYTES // 1_000_000} MB are read"
            raise UsageError("what was sent is too long", cause=most, next="send less")
    return read.decode(errors="replace")


async def _write_report(request: Request) -> Response:
    """Return the report of the trace that a caller has sent, as text: no browser runs it here."""
    text = await _read_text(request)
    page = await to_thread(_format_report, text)
    return Response(page, media_type="text/plain", headers=NO_STORE)


def _format_report(text: str) -> str:
    try:
        trace = parse_finite_json(text)
    except ValueError:
        trace = None
    if not isinstance(trace, dict) or not isinstance(trace.get("run"), dict):
        raise UsageError("no report can be made of this", next="send the trace of a run")
    return format_report(trace)


async def _explain_unread(request: Request) -> list[str]:
    """Return why each file of a list will not be read; they are sent with their first bytes."""
    text = await _read_text(request)
    try:
        blocks = parse_finite_json(text)
    except ValueError:
        blocks = None
    if not isinstance(blocks, list):
        raise UsageError("this is no list of files", next="send blocks of a message")
    return await to_thread(lambda: [explain_unread(block) for block in blocks])


@dataclass(frozen=True)
class _Guarded:
    """Answers a known caller, and with one line where something is wrong."""

    answer: Answer
    settings: Settings

    async def respond(self, request: Request) -> Response:
        if refusal := await self._find_refusal(request):
            return JSONResponse({"detail": refusal}, status_code=401, headers=NO_STORE)
        try:
            is_async = iscoroutinefunction(self.answer)
            work = self.answer(request) if is_async else to_thread(self.answer, request)
            found = await work
            if isinstance(found, Response):
                return found
            return JSONResponse(redact_value(found), headers=NO_STORE)
        except SupervisorError as error:
            shown = await to_thread(_hide, str(error), self.settings)
            status = 404 if error.code in UNKNOWN_CODES else 422
            return JSONResponse({"detail": shown}, status_code=status, headers=NO_STORE)

    async def _find_refusal(self, request: Request) -> str:
        """Return why the caller gets no answer; empty without users, as everybody may ask then."""
        if self.settings.users_file is None:
            return ""
        try:
            users = get_authenticator(self.settings.users_file)
            await users.authenticate(dict(request.headers))
        except Auth.exceptions.HTTPException as refusal:
            return str(refusal.detail)
        except SupervisorError:
            return "this server's users are not configured; see its log"
        return ""


class _TeamPages:
    """Reads teams and exams."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._exams = find_first(lambda each: each.open_exams())

    def list_teams(self, request: Request) -> list[dict[str, Any]]:
        return [self._summarize(name, folder) for name, folder in self._list_folders().items()]

    def show_team(self, request: Request) -> dict[str, Any]:
        folder = self._find_folder(request)
        kept = self._list_kept(request.path_params["team"])
        try:
            team = load_team(folder, self._settings)
        except TeamInvalid as error:
            problem = self._describe_problem(error)
            return {"team": None, "problem": problem, "exam": None, "exams": kept}
        exam = self._describe_exam(folder, team)
        return {"team": describe_team(team), "problem": "", "exam": exam, "exams": kept}

    def show_exam(self, request: Request) -> dict[str, Any]:
        self._find_folder(request)
        if self._exams is None:
            raise TeamUnknown("the server has no exams")
        team, exam = request.path_params["team"], request.path_params["exam"]
        return self._exams.load_kept(self._settings.home, team, exam)

    async def show_row(self, request: Request) -> dict[str, Any]:
        """Return the input of a run: the row's request, and its files as `eval` reads them."""
        asked, files = await to_thread(self._find_row, request)
        return {"request": asked, "materials": await read_materials(files) if files else {}}

    def _summarize(self, name: str, folder: Path) -> dict[str, Any]:
        exams = [each["exam"] for each in self._list_kept(name) if each["exam"]]
        score = next((each["score"] for each in exams if not each["against"]), None)
        models = {tier: self._settings.resolve_model(tier) for tier in get_args(Tier)}
        shown = {"name": name, "score": score, "models": models, "example": None}
        try:
            team = load_team(folder, self._settings)
        except TeamInvalid as error:
            problem = self._describe_problem(error)
            return {**shown, "description": "", "workers": 0, "problem": problem}
        shown["example"] = _pick_example(self._describe_exam(folder, team))
        workers = len(team.workers)
        return {**shown, "description": team.description, "workers": workers, "problem": ""}

    def _list_kept(self, team: str) -> list[dict[str, Any]]:
        return self._exams.list_kept(self._settings.home, team) if self._exams else []

    def _find_row(self, request: Request) -> tuple[str, list[Path]]:
        """Return the request of a row, and its files."""
        folder = self._find_folder(request)
        found = self._exams and self._exams.find_row(folder, request.path_params["row"])
        if not found:
            raise TeamUnknown("the team's exam has no such row")
        files = [folder / name for name in found[1]]
        self._refuse_other_folders(files)
        return found[0], files

    def _describe_problem(self, error: TeamInvalid) -> str:
        return _hide(str(error), self._settings)

    def _describe_exam(self, folder: Path, team: Team) -> dict[str, Any] | None:
        """Return the rows of a team's exam, and what is wrong with it; None without an exam."""
        workers = [worker.name for worker in team.workers]
        shown = self._exams.describe(folder, workers) if self._exams else None
        if shown is None:
            return None
        lines = shown["problems"]
        problems = [_hide(line, self._settings) for line in lines[:MAX_PROBLEMS]]
        return {**shown, "problems": problems, "problem_count": len(lines)}

    def _list_folders(self) -> dict[str, Path]:
        """Return the folders of the teams that have a name, or whose graph is served."""
        named = {folder.name: folder for folder in list_teams(self._settings)}
        return dict(sorted({**named, **SERVED_FOLDERS}.items()))

    def _find_folder(self, request: Request) -> Path:
        if folder := self._list_folders().get(request.path_params["team"]):
            return folder
        raise TeamUnknown("the server has no such team")

    def _refuse_other_folders(self, files: list[Path]) -> None:
        """Raise UsageError for a file that is in no team's folder."""
        allowed = [folder.resolve() for folder in self._list_folders().values()]
        for file in files:
            name = repr(sanitize_line(file.name, 80))
            try:
                place = file.resolve()
            except (OSError, RuntimeError, ValueError):
                raise UsageError(f"the row's file {name} cannot be read") from None
            if not any(place.is_relative_to(folder) for folder in allowed):
                raise UsageError(f"the row's file {name} is outside of the teams' folders")


def _pick_example(exam: dict[str, Any] | None) -> dict[str, str] | None:
    """Return the first row of an exam that shows a team well: it has files, is planned, answers."""
    for row in exam["rows"] if exam else ():
        expected = row["expect"]
        ends = "escalation" not in expected and expected.get("status", "done") == "done"
        is_answered = expected.get("facts") or expected.get(
            "findings"
        )  # others may only be planned
        if row["files"] and not row["worker"] and ends and is_answered:
            return {"id": row["id"], "request": row["request"]}
    return None


def _hide(text: str, settings: Settings) -> str:
    """Return what went wrong without secrets, and without the folders of this machine."""
    parents = {folder.parent for folder in SERVED_FOLDERS.values()}
    own = [*settings.team_folders, settings.home, Path.cwd(), Path.home()]
    folders = [*parents, *own, SHIPPED_TEAMS_FOLDER]
    return str(hide_folders(redact_text(text), *folders))[:MAX_PROBLEM_CHARS]
