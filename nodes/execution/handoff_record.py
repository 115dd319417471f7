"""What a worker was given for an attempt, as the trace holds it."""

from typing import Any, Final

from nodes.prompts.tags import shorten_text
from nodes.schemas.team import Worker
from state import WorkerState

MAX_CHARS: Final = 2_000
"""Limit for each text; a report beside it has all of what it says."""


def describe_handoff(state: WorkerState, worker: Worker) -> dict[str, Any]:
    """Return the handoff without the texts that the trace holds elsewhere.

    `given` are the ids of the tasks whose reports were in it, `materials` the characters of each
    material by name. `description` is there if it is not the plan's, `earlier` is what was wrong
    with the attempt before, `answers` are a human's, by question, and `instructions` those of a
    specialist.
    """
    task, limits = state["task"], worker.limits
    described: dict[str, Any] = {
        "given": [*state.get("inputs", {}), *(report.task for report in state.get("given", ()))],
        "materials": {name: len(text) for name, text in state.get("materials", {}).items()},
        "timeout_s": limits.timeout_s,
        "max_turns": limits.max_turns,
        "max_tokens": limits.max_tokens,
    }
    if (words := state["description"]) != task.description:
        described["description"] = shorten_text(words, MAX_CHARS)
    if earlier := state.get("problem"):
        described["earlier"] = shorten_text(earlier, MAX_CHARS)
    if answers := state.get("answers"):
        described["answers"] = {
            shorten_text(question, MAX_CHARS): shorten_text(answer, MAX_CHARS)
            for question, answer in answers.items()
        }
    if "recruit" in state:
        described["instructions"] = shorten_text(state["recruit"].instructions, MAX_CHARS)
    return described
