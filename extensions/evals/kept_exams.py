"""Keeps the result of each exam in a small file, and shows exams on a page."""

import json
import secrets
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from extensions.evals.exam import EXAM_FILE, ExamRow, read_exam
from extensions.evals.scores import Evaluation
from nodes.errors import OutputFailed, UsageError, translate_os_errors
from nodes.errors.redaction import hide_folders, redact_value
from nodes.limits.patterns import Pattern
from nodes.security.private_files import make_private_folder, replace_private_file

MAX_EXAMS: Final = 50
"""Of one team; older ones are removed."""
MAX_FILE_BYTES: Final = 10_000_000
MAX_TEXT_CHARS: Final = 2000
MAX_COMPLAINTS: Final = 20
EXAM_ID: Final = Pattern(r"[0-9]{8}T[0-9]{12}Z-[0-9a-f]{4}")
_FOLDER: Final = "exams"
_TEAM: Final = Pattern(r"[A-Za-z0-9_.-]{1,100}")


class ExamMissing(UsageError):
    """No such exam is kept."""


class ExamUnreadable(UsageError):
    """The file of an exam cannot be used."""


def _cut(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


_Text = Annotated[str, AfterValidator(_cut)]


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class KeptRow(_Kept):
    """A graded row."""

    id: str
    request: _Text = ""
    score: float
    """0 to 100, as are the scores by metric."""
    scores: dict[str, float] = Field(default_factory=dict)
    complaints: Annotated[
        tuple[_Text, ...], AfterValidator(lambda each: each[:MAX_COMPLAINTS])
    ] = ()
    status: str = ""
    seconds: float = 0.0
    answer: _Text = ""
    error: _Text = ""


class KeptExam(_Kept):
    """An exam as it was run once."""

    team: str
    """The team that was examined; with `--against` another one than that of the exam."""
    models: dict[str, str] = Field(default_factory=dict)
    score: float
    threshold: float | None = None
    against: _Text = ""
    """What a comparison's other side was named; empty for the team itself."""
    metrics: dict[str, float] = Field(default_factory=dict)
    left_out: dict[str, _Text] = Field(default_factory=dict)
    calls: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    rows: tuple[KeptRow, ...] = ()


class ExamSummary(_Kept):
    """What a list of exams holds of one."""

    id: str
    exam: KeptExam | None
    """Without its rows; None for a file that cannot be used."""
    rows: int = 0
    problem: str = ""


def keep_exam(
    home: Path,
    asking: Path,
    evaluation: Evaluation,
    *,
    threshold: float | None = None,
    against: str = "",
) -> str:
    """Write the file of an exam, and return its id.

    Args:
        home: folder of the settings.
        asking: folder of the team whose exam it is.

    Raises:
        OutputFailed: it cannot be written.
    """
    folder = home / _FOLDER / asking.resolve().name
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{secrets.token_hex(2)}"
    exam = _build_exam(evaluation, threshold, against).model_dump(mode="json")
    kept = hide_folders(redact_value(exam), asking.resolve(), home.resolve(), Path.home())
    with translate_os_errors(OutputFailed, f"cannot keep the exam in {folder}"):
        make_private_folder(folder)
        replace_private_file(folder / f"{name}.json", json.dumps(kept, ensure_ascii=True))
        for old in _list_files(folder)[MAX_EXAMS:]:
            old.unlink(missing_ok=True)
    return name


def _build_exam(evaluation: Evaluation, threshold: float | None, against: str) -> KeptExam:
    given = evaluation.to_json()
    metrics = {name: each["score"] for name, each in given["metrics"].items() if each["counted"]}
    rows = [{**row, "error": row["error"] or ""} for row in given["rows"]]
    own = {"threshold": threshold, "against": against, "metrics": metrics, "rows": rows}
    return KeptExam.model_validate({**given, **given["spent"], **own})


def _summarize(path: Path) -> ExamSummary:
    try:
        exam = _read_exam(path)
    except (ExamMissing, ExamUnreadable) as error:
        return ExamSummary(id=path.stem, exam=None, problem=str(error))
    rows = len(exam.rows)
    return ExamSummary(id=path.stem, exam=exam.model_copy(update={"rows": ()}), rows=rows)


def _read_exam(path: Path) -> KeptExam:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ExamUnreadable(f"the exam {path.stem} is larger than {MAX_FILE_BYTES:,} bytes")
        return KeptExam.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise ExamMissing(f"no exam {path.stem} is kept") from None
    except OSError as error:
        raise ExamUnreadable(f"the exam {path.stem} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))[:80]
        raise ExamUnreadable(
            f"the file of the exam {path.stem} is damaged: {place or 'its text'}: "
            f"{_cut(first['msg'], 120)}"
        ) from None


def _list_files(folder: Path) -> list[Path]:
    """Return the files of exams, the newest first; none without the folder."""
    found = [path for path in folder.glob("*.json") if EXAM_ID.fullmatch(path.stem)]
    return sorted(found, key=lambda path: path.stem, reverse=True)


MAX_ROWS: Final = 500
MAX_REQUEST_CHARS: Final = 10_000


class ExamPages:
    """Reads what a page shows; a caller hides folders and secrets."""

    def list_kept(self, home: Path, team: str) -> list[dict[str, Any]]:
        """Return the results of a team's exams that were kept, the newest first."""
        if not _TEAM.fullmatch(team):
            return []
        listed = map(_summarize, _list_files(home / _FOLDER / team)[:MAX_EXAMS])
        return [each.model_dump(mode="json") for each in listed]

    def load_kept(self, home: Path, team: str, exam: str) -> dict[str, Any]:
        """Return one of them.

        Raises:
            ExamMissing, ExamUnreadable: there is none, or it is damaged.
        """
        if not _TEAM.fullmatch(team) or not EXAM_ID.fullmatch(exam):
            raise ExamMissing("no exam is kept under this name")
        return _read_exam(home / _FOLDER / team / f"{exam}.json").model_dump(mode="json")

    def describe(self, folder: Path, workers: Collection[str]) -> dict[str, Any] | None:
        """Return the rows of a team's exam and all its problems; None without an exam."""
        if not (folder / EXAM_FILE).exists():
            return None
        rows, problems = read_exam(folder, workers)
        lines = [f"line {each.line}: {each.text}" if each.line else each.text for each in problems]
        shown = [_describe_row(row) for row in rows[:MAX_ROWS]]
        return {"count": len(rows), "rows": shown, "problems": lines}

    def find_row(self, folder: Path, name: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the request and the files of a row; None without such a row."""
        rows = read_exam(folder)[0] if (folder / EXAM_FILE).exists() else []
        return next(((row.request, row.files) for row in rows if row.id == name), None)


def _describe_row(row: ExamRow) -> dict[str, Any]:
    expect = row.expect.model_dump(mode="json", exclude_defaults=True)
    shown = {"request": row.request[:MAX_REQUEST_CHARS], "expect": expect}
    return {**row.model_dump(mode="json"), **shown}
