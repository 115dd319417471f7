"""`supervise eval`: runs a team's exam, alone or against another team or model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from extensions.evals.evaluate import aevaluate_team, resolve_models
from extensions.evals.exam import ExamInvalid
from extensions.evals.kept_exams import keep_exam
from extensions.evals.metrics import METRICS
from extensions.evals.runner import RowListener
from extensions.evals.scores import Evaluation, GradedRow
from extensions.evals.table import (
    format_complaint_rows,
    format_differing_rows,
    format_heading,
    format_metric_rows,
    format_score_row,
    format_usage_rows,
    list_differing_rows,
)
from graph.commands.cancellation import run_cancellable
from graph.commands.output import print_json, print_table, print_text
from graph.commands.process_exit import Cancelled
from graph.display.stderr_console import print_to_stderr
from graph.display.streams import print_to_stdout
from graph.display.text import to_one_line
from graph.settings import ModelName, Settings
from graph.teams.front_matter_keys import suggest_name
from graph.teams.team_folder import TEAM_FILE
from graph.teams.team_loader import find_team, load_team
from nodes.errors import OutputFailed, SupervisorError, UsageError
from state import Tier

MODEL_SETTINGS: Final = {
    **{f"model_{tier}": f"model_{tier}" for tier in ("fast", "standard", "strong")},
    **{tier: f"model_{tier}" for tier in ("fast", "standard", "strong")},
}
"""The settings, by the names that are allowed before `=`."""


@dataclass(frozen=True)
class Baseline:
    """The team and settings with which an evaluation is compared."""

    label: str
    team: str
    settings: Settings
    workers: tuple[Path, ...] = ()
    """Files of workers that replace the team's, or are added: then this is what is examined."""


def build_changed_team(workers: Sequence[Path], team: str, settings: Settings) -> Baseline:
    """Return a team with workers replaced or added, as the other side of its comparison.

    Raises:
        UsageError: a file is not that of a worker, or two are for one.
    """
    files = {path.stem: path for path in workers}
    for path in workers:
        if path.suffix != ".md" or path.name == TEAM_FILE:
            raise UsageError(
                f"--worker {path} is no worker's file", next="name one such as analyst.md"
            )
        if files[path.stem] is not path:
            raise UsageError(f"two files are for the worker {path.stem!r}", next="name one of them")
    return Baseline(", ".join(path.name for path in workers), team, settings, tuple(workers))


def parse_baseline(against: Sequence[str], team: str, settings: Settings) -> Baseline:
    """Build the baseline from models as TIER=MODEL, and at most one team by its name or folder.

    Raises:
        UsageError: a value is neither, or names a second team.
    """
    pairs = [text.partition("=") for text in against if "=" in text]
    others = [text for text in against if "=" not in text]
    if len(others) > 1:
        raise UsageError(
            f"--against names two teams, {others[0]!r} and {others[1]!r}", next="compare with one"
        )
    models = {_find_setting(name): _check_model_name(name, value) for name, _, value in pairs}
    return Baseline(
        label=", ".join(against),
        team=others[0] if others else team,
        settings=settings.model_copy(update=models),
    )


def _find_setting(name: str) -> str:
    if name not in MODEL_SETTINGS:
        raise UsageError(
            f"--against cannot change {name!r}{suggest_name(name, MODEL_SETTINGS)}",
            next=f"write one of {', '.join(MODEL_SETTINGS)} before '=', or the folder of a team",
        )
    return MODEL_SETTINGS[name]


def _check_model_name(name: str, value: str) -> str:
    try:
        TypeAdapter(ModelName).validate_python(value)
    except ValidationError:
        raise UsageError(
            f"invalid model in --against {name}={value}",
            next="write provider:model, as in openai:gpt-5-mini, or embedded",
        ) from None
    return value


BELOW_THRESHOLD_EXIT_CODE: Final = 3

EvaluationPair = tuple[Evaluation, Evaluation | None]


def evaluate(
    team: str,
    *,
    threshold: float,
    against: Sequence[str],
    workers: Sequence[Path],
    limit: int | None,
    only: Sequence[str],
    judge_tier: Tier,
    as_json: bool,
    quiet: bool,
    settings: Settings,
) -> int:
    """Run a team's exam and print its grades; return 3 if the score is below the threshold.

    Where workers are replaced or added, it is the score with them.
    """
    if against and workers:
        raise UsageError(
            "--worker compares a team with itself, without --against",
            next="leave one of the two options out",
        )
    other = parse_baseline(against, team, settings) if against else None
    other = build_changed_team(workers, team, settings) if workers else other
    rows = {"limit": limit, "only": only, "judge_tier": judge_tier}
    graded: tuple[list[GradedRow], list[GradedRow]] = ([], [])
    work = _evaluate_sides(team, other, rows, graded, quiet=quiet, settings=settings)
    try:
        sides = run_cancellable(work, farewell=lambda: _describe_stop(graded))
    except Cancelled:
        _print_graded(team, graded, as_json=as_json)
        raise
    except SupervisorError as error:
        _print_problems(error, as_json=as_json)
        raise
    _keep_sides(team, sides, other, threshold, settings)
    if as_json:
        print_json(_build_json(sides, other, threshold))
    else:
        _print_evaluation(sides, other, threshold)
    return 0 if _get_score(sides, other) >= threshold else BELOW_THRESHOLD_EXIT_CODE


async def _evaluate_sides(
    team: str,
    other: Baseline | None,
    rows: Mapping[str, Any],
    graded: tuple[list[GradedRow], list[GradedRow]],
    *,
    quiet: bool,
    settings: Settings,
) -> EvaluationPair:
    """Run one or two exams; each graded row is added to the list of its side at once."""

    def listen(to: list[GradedRow]) -> RowListener:
        def on_row(row: GradedRow) -> None:
            to.append(row)
            if not quiet:
                _print_row(row)

        return on_row

    chosen: dict[str, Any] = {"exam": team, **rows}
    if other:  # an invalid comparison must fail before the exam costs anything
        load_team(other.team, other.settings, workers=other.workers)
        await resolve_models(other.settings)
    first = await aevaluate_team(team, settings=settings, on_row=listen(graded[0]), **chosen)
    if other is None:
        return first, None
    if not quiet:
        print_to_stderr(_describe_other(other))
    # One judge for both, so that the difference is not that of the judges.
    chosen |= {"workers": other.workers, "settings": other.settings, "judge": settings}
    return first, await aevaluate_team(other.team, on_row=listen(graded[1]), **chosen)


def _get_score(sides: EvaluationPair, other: Baseline | None) -> float:
    """Return the score that the threshold is for."""
    first, second = sides
    return second.score if second and other and other.workers else first.score


def _describe_other(other: Baseline) -> str:
    return f"{'with' if other.workers else 'against'} {to_one_line(other.label)}"


def _keep_sides(
    team: str, sides: EvaluationPair, other: Baseline | None, threshold: float, settings: Settings
) -> None:
    """Keep the exam for the team's page; its result is printed even where it cannot be kept."""
    asking, (first, second) = find_team(team, settings), sides
    try:
        keep_exam(settings.home, asking, first, threshold=threshold)
        if second is not None and other is not None:
            keep_exam(settings.home, asking, second, threshold=threshold, against=other.label)
    except OutputFailed as error:
        print_to_stderr(error.format_line(), style="yellow")


def _describe_stop(graded: Sequence[Sequence[GradedRow]]) -> str:
    count = sum(map(len, graded))
    return f"stopped. kept: nothing of the exam; {count} row{'s'[: count != 1]} had been graded"


def _print_graded(team: str, graded: Sequence[Sequence[GradedRow]], *, as_json: bool) -> None:
    """Print the rows that a stopped exam has: each side that was begun, without a verdict."""
    sides = [Evaluation(team=team, models={}, rows=rows) for rows in graded if rows]
    if as_json and sides:
        print_json({"stopped": True, "sides": [side.to_json() for side in sides]})
    elif sides:
        second = sides[1] if len(sides) > 1 else None
        total = format_score_row(sides[0], second)
        print_table([*format_metric_rows(sides[0], second, counted=True), total])


def _print_row(row: GradedRow) -> None:
    why = f": {to_one_line('; '.join(row.complaints), 120)}" if row.complaints else ""
    print_to_stderr(f"{row.row.id} {row.score:.0f}{why}", style="dim")


def _print_problems(error: SupervisorError, *, as_json: bool) -> None:
    """Print all problems of an exam; the command line prints the error itself."""
    problems = error.problems if isinstance(error, ExamInvalid) else []
    if as_json:
        print_json({"error": {"code": error.code, "message": str(error), "problems": problems}})
    else:
        for problem in problems:
            print_to_stdout(problem)


def _build_json(sides: EvaluationPair, other: Baseline | None, threshold: float) -> dict[str, Any]:
    first, second = sides
    passed = _get_score(sides, other) >= threshold
    result = {**first.to_json(), "threshold": threshold, "passed": passed}
    if second is None or other is None:
        return result
    differences = {"score": round(second.score - first.score, 1)}
    for name in METRICS:
        before, after = first.average_metric(name), second.average_metric(name)
        if before is not None and after is not None:
            differences[name] = round(after - before, 1)
    return {
        **result,
        "against": {"label": other.label, **second.to_json()},
        "difference": differences,
        "differing_rows": [
            {"id": before.row.id, "score": before.score, "against": after.score}
            for before, after in list_differing_rows(first, second)
        ],
    }


def _print_evaluation(sides: EvaluationPair, other: Baseline | None, threshold: float) -> None:
    first, second = sides
    print_text(format_heading(first))
    head: tuple[str, ...] = ("", "percent")
    if second is not None and other is not None:
        print_text(f"{_describe_other(other)}: {format_heading(second)}")
        head = ("", first.team, to_one_line(other.label, 24), "difference")
    print_text("")
    total = format_score_row(first, second)
    print_table([(*head, "rows", ""), *format_metric_rows(first, second, counted=True), total])
    print_text("\ninformational (not scored)")
    print_table(
        [*format_metric_rows(first, second, counted=False), *format_usage_rows(first, second)]
    )
    if complaints := format_complaint_rows(first.rows):
        print_text("\nrows below 100")
        print_table(complaints)
    if second is not None and (differing := format_differing_rows(first, second)):
        print_text("\nrows that differ")
        print_table(differing)
    left_out = {**(second.left_out if second else {}), **first.left_out}
    for name, why in left_out.items():
        print_to_stderr(f"left out: {name}: {to_one_line(why, 300)}", style="yellow")
    if first.experiment:
        print_to_stderr(f"in LangSmith: {first.experiment}", style="dim")
    score = _get_score(sides, other)
    verdict = "reached" if score >= threshold else "missed"
    print_text(f"\nscore {score:.1f}, threshold {threshold:g}: {verdict}")
