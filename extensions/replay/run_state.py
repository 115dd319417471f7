"""What a run begins with, and what it has come to, as a record has them."""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from langgraph.checkpoint.base import CheckpointTuple

from graph.around_run import BegunRun
from graph.settings import Settings
from graph.stores.serializer import build_strict_serializer
from nodes.errors import SupervisorError
from nodes.errors.redaction import redact_value
from nodes.limits.deadline import measure_elapsed_s
from nodes.limits.recorder import hash_section
from nodes.limits.run_scope import get_run_scope

VERSION: Final = 1
"""Of the form of a record."""
RECORDED_SETTINGS: Final = (
    "speculate",
    "stream",
    "deadline_s",
    "max_concurrency",
    "prices",
    "trace_content",
)
"""What of the settings decides how a run goes, besides its models."""
OWN_SETTINGS: Final = ("call_timeout_s",)
"""The same where they are set."""


async def describe_begin(begun: BegunRun, given: Any, settings: Settings) -> dict[str, Any]:
    """Return what a graph is given, and the state in which it begins.

    Of an input no known secret is read, so none is kept.
    """
    scope = get_run_scope(begun.config)
    recorded = {*RECORDED_SETTINGS, *(set(OWN_SETTINGS) & settings.model_fields_set)}
    plan = scope.given_plan
    return {
        "version": VERSION,
        "thread": begun.config["configurable"]["thread_id"],
        "input": encode_value(redact_value(given) if isinstance(given, Mapping) else given),
        "settings": settings.model_dump(mode="json", include=recorded),
        "given_plan": plan and plan.model_dump(mode="json"),
        "kept_materials": list(scope.kept_materials),
        "ignores_saved_context": scope.ignores_saved_context,
        "began": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "elapsed_s": measure_elapsed_s(begun.config),
        "checkpoints": await _describe_checkpoints(begun),
        "is_resumed": begun.is_resumed,
    }


async def _describe_checkpoints(begun: BegunRun) -> list[list[str]]:
    """Return the last checkpoint of each graph of a thread, with what was written beside it."""
    assert begun.saver, "a run that is kept has a database"
    newest = await begun.saver.aget_tuple(begun.config)
    if newest is None or not (await begun.read_state()).next:
        return [_encode_checkpoint(newest)] if newest else []  # the run has ended
    found = dict[str, list[str]]()
    thread = {"thread_id": begun.config["configurable"]["thread_id"]}
    async for saved in begun.saver.alist({"configurable": thread}):
        if (ns := saved.config["configurable"].get("checkpoint_ns", "")) not in found:
            found[ns] = _encode_checkpoint(saved)
    return list(found.values())


def _encode_checkpoint(saved: CheckpointTuple) -> list[str]:
    ns = saved.config["configurable"].get("checkpoint_ns", "")
    kept = [ns, saved.checkpoint, saved.metadata, list(saved.pending_writes or ())]
    return encode_value(kept)


def summarize_state(values: Mapping[str, Any], error: SupervisorError | None) -> dict[str, Any]:
    """Return the hash of each part of what a run has come to, for a replay to compare."""
    plan, answer = values.get("plan"), values.get("answer")
    parts = {
        "plan": plan and plan.model_dump(mode="json"),
        "reports": _dump_models(values.get("results", {})),
        "answer": answer and answer.model_dump(mode="json"),
        "bill": _dump_models(values.get("ledger", {})),
        "error": error and [error.code, str(error)],
    }
    hashes = {name: hash_section(part) for name, part in parts.items()}
    return {"status": values.get("status", ""), **hashes}


def _dump_models(models: Mapping[str, Any]) -> dict[str, Any]:
    return {name: model.model_dump_json() for name, model in models.items()}


def encode_value(value: Any) -> list[str]:
    """Return a value of our own types as text, by the serializer of checkpoints."""
    kind, data = build_strict_serializer().dumps_typed(value)
    return [kind, base64.b64encode(data).decode()]
