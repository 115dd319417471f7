"""What tracers show: the names of runs, and the steps of a node as runs of their own."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    merge_configs,
    patch_config,
    var_child_runnable_config,
)
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp

from state import Tier

WORK: Final = "work"
TURN: Final = "turn"
"""A model call that may call tools; one that may only report is named `report`."""
AGENT_PATH: Final = "agent_path"
"""Metadata: the workers whose attempts a call is in, the outermost first."""
PURPOSES_BY_SCHEMA: Final[Mapping[str, str]] = {
    "Plan": "plan",
    "Decision": "route",
    "PlanReview": "plan review",
    "TaskCheck": "surprise check",
    "Report": "report",
    "Refinement": "refine",
    "Recruit": "recruit",
    "Verdict": "judge",
    "Answer": "answer",
    "Critique": "critic",
}
"""The purpose of a model call by what it asks for, unless the caller names another one."""
_PURPOSES_OF_TASKS: Final = frozenset(("report", TURN, "refine", "recruit"))


def get_purpose(schema: str) -> str:
    """Return what a model call for a value of a schema is for."""
    return PURPOSES_BY_SCHEMA.get(schema, schema.lower() or "model call")


def name_agent(around: Mapping[str, Any], worker: str, task: str) -> dict[str, str]:
    """Return the metadata that makes an attempt an agent in OpenTelemetry's traces.

    An agent inside another one of its name would be taken for a part of it.

    Args:
        around: the metadata of the node.
    """
    path: str = around.get(AGENT_PATH, "")
    name = f"{worker} ({task})" if worker in path.split("/") else worker
    return {"agent_name": name, AGENT_PATH: f"{path}/{worker}".lstrip("/")}


def label_model_run(
    config: RunnableConfig | None, purpose: str, *, tier: Tier, model: str
) -> RunnableConfig:
    """Return the config of a model call with its name, such as `report: t3`, and metadata."""
    around = ensure_config(config)
    task = around["metadata"].get("task", "") if purpose in _PURPOSES_OF_TASKS else ""
    metadata: dict[str, Any] = {"purpose": purpose, "tier": tier, "model": model}
    name = f"{purpose}: {task}" if task else purpose
    return merge_configs(around, {"run_name": name, "metadata": metadata})


def has_listeners(model: BaseChatModel, config: RunnableConfig | None) -> bool:
    """Return whether a callback, a tracer or a stream of tokens wants to hear of a call."""
    if model.callbacks or model.cache:
        return True
    given = config if config and "callbacks" in config else ensure_config(config)
    if isinstance(given.get("callbacks"), BaseCallbackManager):
        return has_handlers(given)
    return bool(get_async_callback_manager_for_config(given).handlers)  # outside a graph


def has_handlers(config: RunnableConfig) -> bool:
    """Return whether a handler hears what runs in a graph with a config."""
    callbacks = config.get("callbacks")
    return bool(callbacks if isinstance(callbacks, list) else callbacks and callbacks.handlers)


class StepFailed(Exception):
    """The error of a step that has failed without raising, as traces show it."""


@dataclass
class TracedStep:
    """A step that is at work; who makes it sets what it has produced."""

    config: RunnableConfig
    """Of everything called inside."""
    outputs: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    """Set when the step has failed without raising."""


@asynccontextmanager
async def trace_step(
    name: str, inputs: Mapping[str, Any], metadata: Mapping[str, Any]
) -> AsyncIterator[TracedStep]:
    """Record what happens inside as one run, whose metadata all runs below it inherit."""
    around = get_config()
    if not has_handlers(around):
        labels = {**around.get("metadata", {}), **metadata}
        labelled: RunnableConfig = {**around, "metadata": labels}
        labelled.pop("run_name", None)  # of the step around
        token = var_child_runnable_config.set(labelled)
        try:
            yield TracedStep(labelled)
        finally:
            var_child_runnable_config.reset(token)
        return
    config = merge_configs(around, {"metadata": dict(metadata)})
    run = await get_async_callback_manager_for_config(config).on_chain_start(
        None, dict(inputs), name=name
    )
    step = TracedStep(patch_config(config, callbacks=run.get_child()))
    token = var_child_runnable_config.set(step.config)
    try:
        yield step
    except GraphBubbleUp:  # a question to a human is no failure
        await run.on_chain_end({"interrupted": True})
        raise
    except BaseException as error:
        await run.on_chain_error(error)
        raise
    else:
        if step.error:
            await run.on_chain_error(StepFailed(step.error))
        else:
            await run.on_chain_end(step.outputs)
    finally:
        var_child_runnable_config.reset(token)
