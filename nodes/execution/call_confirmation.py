"""Asks a human before a call of a tool that has effects elsewhere."""

from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import ToolCallRequest
from langchain_core.runnables import RunnableConfig

from nodes.errors import ToolFailed
from nodes.errors.redaction import redact_value
from nodes.execution.checkpointing import has_checkpointer
from nodes.human.request import ask_until_clear, build_tool_request
from nodes.telemetry.events import build_task_path
from nodes.tools.framework.confirmed_tool import ConfirmedTool

Restrict = Callable[[ToolCallRequest], ToolCallRequest]


class NotConfirmed(ToolFailed):
    """No human agreed to the call, so it was not made; the message says why."""


def confirm_call(request: ToolCallRequest, restrict: Restrict) -> ToolCallRequest:
    """Return the call as a human agrees to it; a tool that does not ask is returned at once.

    Args:
        restrict: checks arguments that the human has edited, as it did those of the model.

    Raises:
        NotConfirmed: the human rejected the call, or no human can be asked.
        EgressDenied: the edited arguments would leak private data.
        ToolRefused: the arguments do not fit the tool.
    """
    tool, call = request.tool, request.tool_call
    if not isinstance(tool, ConfirmedTool) or not tool.asks:
        return request
    tool.check_arguments(call["args"])
    config = request.runtime.config
    if not has_checkpointer(config):
        raise NotConfirmed(
            f"{tool.origin} was not called: it asks a human before each call, and no human can be "
            "asked in a run that is not saved"
        )
    decision = ask_until_clear(_build_question(tool, call["args"], config))
    if decision.kind == "approve":
        return request
    if decision.kind != "edit" or decision.args is None:
        reason = f": {decision.message}" if decision.message else ""
        raise NotConfirmed(f"{tool.origin} was not called: a human rejected the call{reason}")
    tool.check_arguments(dict(decision.args))
    return restrict(request.override(tool_call={**call, "args": dict(decision.args)}))


def _build_question(
    tool: ConfirmedTool, args: dict[str, Any], config: RunnableConfig
) -> dict[str, Any]:
    metadata = config.get("metadata") or {}
    task, worker = str(metadata.get("task", "")), str(metadata.get("worker", ""))
    schema = tool.args_schema if isinstance(tool.args_schema, dict) else None
    return build_tool_request(
        tool.origin or tool.name,
        redact_value(args),
        task=build_task_path(config, task),
        worker=worker,
        args_schema=schema,
    )
