"""What a new request, or one that is tried again, finds of the earlier one in its thread."""

from typing import Any, get_type_hints

from langgraph.types import Overwrite

from state import Expense, Report, SupervisorState, Usage, reopen_request, reset_for_new_request

WRITTEN_WITH_THE_PLAN = {
    *("request", "planned_for", "given", "origin", "team_record", "messages", "plan", "plans"),
    *("estimate", "max_attempts", "steps_left", "asked_s", "planned_s", "todo"),
    *("todos", "ui"),
}
WRITTEN_WITH_THE_ANSWER = {"usage", "timing", "drafted"}
KEPT = {"materials"}
"""A follow-up may name files of the thread."""


def test_every_channel_of_an_earlier_request_is_emptied_or_written_anew():
    known = {*reset_for_new_request(), *WRITTEN_WITH_THE_PLAN, *WRITTEN_WITH_THE_ANSWER, *KEPT}

    assert known == set(get_type_hints(SupervisorState))


def test_a_request_that_is_tried_again_keeps_its_results_and_its_costs():
    report = Report(task="T1", status="completed")
    spent = Expense(worker="w", tier="fast", usage=Usage(model_calls=1), task="T1")

    update = reopen_request({"T1": report}, [spent])

    channels: dict[str, Any] = {**update}
    assert channels["results"] == Overwrite({"T1": report})
    (entry,) = channels["ledger"].value.values()
    assert (entry.task, entry.reopenings) == ("T1", 1)
    assert update["revisions"] == 0 and update["status"] == "running"
