"""The rows of an exam as LangSmith's examples: made up here, or kept in a dataset there."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langsmith import Client
from langsmith.schemas import Example

from graph.evaluation.exam import Exam
from graph.evaluation.rows import Row


def local_examples(team: str, exam: Exam) -> list[Example]:
    """Give the rows as examples that are kept nowhere."""
    dataset = uuid5(NAMESPACE_URL, _name(team))
    return [
        Example(
            id=uuid5(dataset, row.id),
            dataset_id=dataset,
            created_at=datetime.now(UTC),
            inputs=_inputs(row),
            outputs=_outputs(row),
        )
        for row in exam.rows
    ]


def kept_examples(client: Client, team: str, exam: Exam) -> list[Example]:
    """Bring the team's dataset up to date, and give the rows as they are kept.

    Raises:
        LangSmithError: it cannot be reached, or refuses.
    """
    name = _name(team)
    if not client.has_dataset(dataset_name=name):
        client.create_dataset(name, description=f"The exam of the team {team}.")
    dataset = client.read_dataset(dataset_name=name).id
    kept = _by_row(client, dataset)
    new = [row for row in exam.rows if row.id not in kept]
    if new:
        made = [{"inputs": _inputs(row), "reference_outputs": _outputs(row)} for row in new]
        client.create_examples(dataset_id=dataset, examples=made)
    for row in exam.rows:
        held = kept.get(row.id)
        if held and (held.inputs, held.outputs) != (_inputs(row), _outputs(row)):
            client.update_example(
                held.id, inputs=_inputs(row), outputs=_outputs(row), dataset_id=dataset
            )
    kept = _by_row(client, dataset)
    return [kept[row.id] for row in exam.rows]


def _by_row(client: Client, dataset: Any) -> Mapping[str, Example]:
    examples = client.list_examples(dataset_id=dataset)
    return {str((example.inputs or {}).get("id")): example for example in examples}


def _name(team: str) -> str:
    return f"supervisor-worker {team}"


def _inputs(row: Row) -> dict[str, Any]:
    return {"id": row.id, "request": row.request, "files": list(row.files)}


def _outputs(row: Row) -> dict[str, Any]:
    return row.expect.model_dump(mode="json", exclude_defaults=True)
