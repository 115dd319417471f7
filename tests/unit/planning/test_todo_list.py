"""The plan as a to-do list."""

from langgraph.graph.ui import ui_message_reducer

from nodes.planning.todo_list import build_plan_message, build_status_event, build_todos
from state import Plan, Report, Task

PLAN = Plan(
    goal="Compare.",
    tasks=(
        Task(id="A", description="Read a.", worker="reader"),
        Task(id="B", description="Read b.", worker="reader"),
        Task(id="C", description="Compare both.", worker="writer", depends_on=("A", "B")),
    ),
)


def test_a_task_is_pending_in_progress_then_completed():
    before = build_todos(PLAN, {})
    running = build_todos(PLAN, {"A": Report(task="A")}, sent=("B", "C"))

    assert [todo["status"] for todo in before] == ["pending"] * 3
    assert [todo["status"] for todo in running] == ["completed", "in_progress", "pending"]


def test_a_failed_task_has_ended_and_says_so():
    todos = build_todos(PLAN, {"A": Report(task="A", status="failed")})

    assert todos[0] == {"id": "A", "content": "Read a. (failed)", "status": "completed"}


def test_an_event_changes_one_task_of_the_shown_plan():
    shown = build_plan_message({"goal": "g", "task:A": "pending"}, is_merged=False)
    event = build_status_event("A", "completed", {"configurable": {}})

    (merged,) = ui_message_reducer([shown], [event])  # type: ignore[list-item]  # with the fields of an event

    assert merged["props"] == {"goal": "g", "task:A": "completed"}  # type: ignore[typeddict-item]  # it is not removed
    assert event["kind"] == "ui" and event["task"] == "A"
