"""The rows of an exam as LangSmith examples: created locally, or stored in a dataset there."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langsmith import Client
from langsmith.schemas import Example

from extensions.evals.exam import Exam
from extensions.evals.rows import ExamRow


def build_local_examples(team: str, exam: Exam) -> list[Example]:
    """Return the rows as examples that are not stored."""
    dataset = uuid5(NAMESPACE_URL, _name_dataset(team))
    return [
        Example(
            id=uuid5(dataset, row.id),
            dataset_id=dataset,
            created_at=datetime.now(UTC),
            inputs=_build_inputs(row),
            outputs=_build_reference_outputs(row),
        )
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
    kept = _list_examples_by_row(client, dataset)
    new = [row for row in exam.rows if row.id not in kept]
    if new:
        made = [
            {"inputs": _build_inputs(row), "reference_outputs": _build_reference_outputs(row)}
            for row in new
        ]
        client.create_examples(dataset_id=dataset, examples=made)
    for row in exam.rows:
        held = kept.get(row.id)
        if held and (held.inputs, held.outputs) != (
            _build_inputs(row),
            _build_reference_outputs(row),
        ):
            client.update_example(
                held.id,
                inputs=_build_inputs(row),
                outputs=_build_reference_outputs(row),
                dataset_id=dataset,
            )
    kept = _list_examples_by_row(client, dataset)
    return [kept[row.id] for row in exam.rows]


def _list_examples_by_row(client: Client, dataset: Any) -> Mapping[str, Example]:
    examples = client.list_examples(dataset_id=dataset)
    return {str((example.inputs or {}).get("id")): example for example in examples}


def _name_dataset(team: str) -> str:
    return f"supervisor-worker {team}"


def _build_inputs(row: ExamRow) -> dict[str, Any]:
    return {"id": row.id, "request": row.request, "files": list(row.files)}


def _build_reference_outputs(row: ExamRow) -> dict[str, Any]:
    return row.expect.model_dump(mode="json", exclude_defaults=True)
