"""The examples of a team, as the planner and the router see them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage

from nodes.prompts.tags import wrap_in_tag
from nodes.schemas.team import Example, Team

FIELDS_OF_THE_SUPERVISOR = {"version", "rule_reason"}
"""Fields of a plan that no model writes or reads."""
UNSHOWN_FIELDS: Mapping[str, Any] = {
    **dict.fromkeys((*FIELDS_OF_THE_SUPERVISOR, "untaken"), True),
    "tasks": {"__all__": {"covers"}},
}
"""What the text of a plan leaves out in a prompt."""


def format_plan_examples(examples: Iterable[Example]) -> str:
    """Return the section that shows the planner good plans."""
    return "<examples>\n" + "\n".join(map(_format_example, examples)) + "\n</examples>"


def format_route_examples(team: Team) -> str:
    """Return the section that shows the router good choices."""
    shown = (
        _format_route_example(example, may_plan=team.plan_when_needed) for example in team.examples
    )
    return "<examples>\n" + "\n".join(shown) + "\n</examples>"


def remove_examples(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return messages without the section of examples in the first one."""
    if not messages:
        return []
    text = str(messages[0].text)
    before, opening, rest = text.partition("<examples>\n")
    if not opening:
        return list(messages)
    after = rest.rpartition("\n</examples>")[2]
    first = messages[0].model_copy(update={"content": f"{before}{after}".strip()})
    return [first, *messages[1:]]


def _format_example(example: Example) -> str:
    """Return a request and the tasks of its plan, in the form in which a plan is asked for."""
    numbers = {task.id: at for at, task in enumerate(example.plan.tasks, start=1)}
    dumped = example.plan.model_dump(mode="json", exclude=UNSHOWN_FIELDS, exclude_defaults=True)
    for task in dumped["tasks"]:
        for edge in task.get("depends_on", ()):
            edge["task"] = numbers[edge["task"]]
    plan = json.dumps({key: dumped[key] for key in dumped if key != "goal"}, ensure_ascii=False)
    request = wrap_in_tag("request", example.request)
    return f"<example>\n{request}\n{wrap_in_tag('plan', plan)}\n</example>"


def _format_route_example(example: Example, *, may_plan: bool) -> str:
    """Return an example as a routing decision: its first worker, and the next as secondary.

    Where the team plans requests and the example's tasks depend on each other, it needs a plan.
    """
    tasks = {task.worker: task.description for task in reversed(example.plan.tasks)}
    first, *others = dict.fromkeys(task.worker for task in example.plan.tasks)
    decision: dict[str, Any] = {"worker": first, "task": tasks[first]}
    if may_plan and any(task.depends_on for task in example.plan.tasks):
        decision = {"worker": first, "needs_plan": True}
    elif others:
        decision |= {"secondary": others[0], "secondary_task": tasks[others[0]]}
    shown = [
        wrap_in_tag("request", example.request),
        wrap_in_tag("decision", json.dumps(decision, ensure_ascii=False)),
    ]
    return "\n".join(["<example>", *shown, "</example>"])
