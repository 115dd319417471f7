"""Evaluates a team: its exam is read, run as an experiment of LangSmith, and graded."""

import asyncio
import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, get_args
from uuid import NAMESPACE_URL, uuid5

from langsmith import Client, aevaluate
from langsmith.schemas import Example
from langsmith.utils import LangSmithError

from extensions.evals.exam import Exam, ExamRow, load_exam
from extensions.evals.runner import ExamRunner, Judge, RowListener
from extensions.evals.scores import Evaluation
from graph.settings import Settings, read_settings
from graph.teams.team_loader import find_team, load_team
from graph.topology.blocking_portal import get_portal
from nodes.errors import SettingsInvalid
from nodes.models.catalog import ModelCatalog
from nodes.schemas.team import Team
from state import Strategy, Tier

MAX_CONCURRENT_ROWS: Final = 2
"""Rows in parallel; each also runs its own tasks in parallel."""
CLOSE_TIMEOUT_S: Final = 10.0


async def run_experiment(
    sitting: ExamRunner, team: str, exam: Exam, settings: Settings, metadata: Mapping[str, Any]
) -> str:
    """Run and grade all rows; return the experiment's address, empty if it is not uploaded.

    Raises:
        SettingsInvalid: tracing is on, and LangSmith cannot be reached or refuses.
        Exception: the error that ended the exam.
    """
    is_kept = settings.langsmith_tracing
    client = _build_client(settings)
    try:
        if is_kept:
            examples = await asyncio.to_thread(sync_examples, client, team, exam)
        else:
            examples = build_local_examples(team, exam)
        results = await _start_quietly(
            sitting.run_row,
            data=examples,
            evaluators=[sitting.grade_row],
            client=client,
            upload_results=is_kept,
            max_concurrency=1 if sitting.replays else MAX_CONCURRENT_ROWS,
            experiment_prefix=team,
            metadata=dict(metadata),
            blocking=False,
        )
        async for _ in results:
            pass
        address = (await results.get_comparison_url() or "") if is_kept else ""
    except (LangSmithError, OSError) as error:
        raise SettingsInvalid(
            "LangSmith does not accept the exam",
            cause=str(error).partition("\n")[0][:300],
            next="check LANGSMITH_API_KEY and the network, or unset LANGSMITH_TRACING: without it "
            "an exam stays on this machine",
        ) from error
    finally:
        await sitting.cancel_rows()
        await asyncio.to_thread(client.close, CLOSE_TIMEOUT_S)
    sitting.raise_fatal_error()
    return address


def _build_client(settings: Settings) -> Client:
    if settings.langsmith_tracing:
        key = settings.langsmith_api_key
        revealed = key.get_secret_value() if key else None
        return Client(settings.langsmith_endpoint, api_key=revealed)
    # LangSmith traces the rows of an experiment even if it uploads no results, and would send
    # them: a sampling rate of 0 prevents that.
    return Client(
        "http://127.0.0.1", api_key="none", tracing_sampling_rate=0.0, auto_batch_tracing=False
    )


async def _start_quietly(*target: Any, **options: Any) -> Any:  # LangSmith does not export the type
    """Start an experiment without LangSmith's output: a name, a warning, a progress bar."""
    with (
        warnings.catch_warnings(action="ignore"),
        redirect_stdout(StringIO()),
        redirect_stderr(StringIO()),
    ):
        results = await aevaluate(*target, **options)
        # The bar keeps the stderr that is current when the first row is awaited.
        await asyncio.sleep(0)
    return results


def build_local_examples(team: str, exam: Exam) -> list[Example]:
    """Return the rows as examples that are not stored."""
    dataset = uuid5(NAMESPACE_URL, _name_dataset(team))
    made = datetime.now(UTC)
    return [
        Example(id=uuid5(dataset, row.id), dataset_id=dataset, created_at=made, **_describe(row))
        for row in exam.rows
    ]


def sync_examples(client: Client, team: str, exam: Exam) -> list[Example]:
    """Update the team's dataset in LangSmith, and return the rows as its examples.

    Raises:
        LangSmithError: LangSmith cannot be reached, or refuses.
    """
    name = _name_dataset(team)
    if not client.has_dataset(dataset_name=name):
        client.create_dataset(name, description=f"The exam of the team {team}.")
    dataset = client.read_dataset(dataset_name=name).id
    kept, new = _list_examples_by_row(client, dataset), list[dict[str, Any]]()
    for row in exam.rows:
        each, held = _describe(row), kept.get(row.id)
        if held is None:
            new.append({"inputs": each["inputs"], "reference_outputs": each["outputs"]})
        elif {"inputs": held.inputs, "outputs": held.outputs} != each:
            client.update_example(held.id, dataset_id=dataset, **each)
    if new:
        client.create_examples(dataset_id=dataset, examples=new)
    kept = _list_examples_by_row(client, dataset)
    return [kept[row.id] for row in exam.rows]


def _list_examples_by_row(client: Client, dataset: Any) -> Mapping[str, Example]:
    examples = client.list_examples(dataset_id=dataset)
    return {str((example.inputs or {}).get("id")): example for example in examples}


def _name_dataset(team: str) -> str:
    return f"supervisor-worker {team}"


def _describe(row: ExamRow) -> dict[str, Any]:
    """Return a row as the inputs and outputs of an example."""
    return {
        "inputs": {"id": row.id, "request": row.request, "files": list(row.files)},
        "outputs": row.expect.model_dump(mode="json", exclude_defaults=True),
    }


def evaluate_team(team: str | Path, **options: Any) -> Evaluation:
    """Evaluate a team from synchronous code; the options are those of `aevaluate_team`."""
    return get_portal().call(aevaluate_team(team, **options))


async def aevaluate_team(
    team: str | Path,
    *,
    workers: Sequence[str | Path] = (),
    exam: str | Path | None = None,
    limit: int | None = None,
    only: Collection[str] = (),
    settings: Settings | None = None,
    judge: Settings | None = None,
    judge_tier: Tier = "strong",
    on_row: RowListener | None = None,
    replayed: bool = False,
    strategy: Strategy | None = None,
) -> Evaluation:
    """Run a team's exam, and grade it. Its runs are stored in a temporary folder.

    Args:
        workers: files of workers, each in place of the team's worker of its name, or added to them.
        exam: the team whose exam is used; default is the evaluated team.
        limit, only: use only the first rows; only those with these ids.
        judge, judge_tier: settings whose models judge, `settings` without; the tier that judges.
        on_row: called with each graded row.
        replayed: use only the rows with a record, and replay these; no model is asked.
        strategy: in place of the team's; of a single agent no plans are graded.

    Raises:
        UsageError: the team or a setting cannot be used; there is no exam, or it has problems.
        ModelError: no row could reach the model.
    """
    settings = _prepare_settings(read_settings(settings), replayed)
    examined = _load_examined(team, settings, [*map(Path, workers)], strategy)
    asking = find_team(exam or team, settings)
    rows, is_single = _load_rows(asking, settings), examined.strategy == "single"
    chosen = rows.select_rows(limit, only, replayed=replayed, answers=is_single)
    names = {} if replayed else await resolve_models(settings)
    known = {"team": examined.name, **{f"model_{tier}": name for tier, name in names.items()}}
    with TemporaryDirectory(prefix="supervise-eval-", ignore_cleanup_errors=True) as home:
        apart = settings.model_copy(update={"database_url": f"sqlite:///{home}/runs.sqlite"})
        judging = Judge(judge or settings, judge_tier)
        sitting = ExamRunner(examined, chosen, apart, judging, on_row)
        address = await run_experiment(sitting, asking.resolve().name, chosen, settings, known)
    return Evaluation(
        team=examined.name,
        models=names,
        rows=[sitting.graded_rows[row.id] for row in chosen.rows],
        left_out={"judged": judging.skip_reason} if judging.skip_reason else {},
        experiment=address,
        skipped=chosen.skipped,
        is_of_answers=is_single,
    )


def _prepare_settings(settings: Settings, replayed: bool) -> Settings:
    settings = settings.model_copy(update={"langsmith_tracing": False} if replayed else {})
    settings.export_tracing()
    return settings


def _load_rows(asking: Path, settings: Settings) -> Exam:
    return load_exam(asking, [worker.name for worker in load_team(asking, settings).workers])


def _load_examined(
    team: str | Path, settings: Settings, workers: Sequence[Path], strategy: Strategy | None
) -> Team:
    examined = load_team(team, settings, workers=workers)
    return examined.model_copy(update={"strategy": strategy} if strategy else {})


async def resolve_models(settings: Settings) -> dict[Tier, str]:
    """Return the model of each tier, after checking that each can be used with the settings.

    Raises:
        SettingsInvalid, ModelUnknown: a model cannot be used.
    """
    models = ModelCatalog(settings.build_model_settings())
    for tier in get_args(Tier):
        await asyncio.to_thread(models.get_chat_model, tier)
    return {tier: models.get_name(tier) for tier in get_args(Tier)}
