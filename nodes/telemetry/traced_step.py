"""A step of a node as a run of its own in the traces, with or without a graph around it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForChainRun
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import (
    get_async_callback_manager_for_config,
    merge_configs,
    patch_config,
    var_child_runnable_config,
)
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp


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
    """Record what happens inside as one run, whose metadata all runs below it inherit.

    Without a listener only the config changes.
    """
    config = merge_configs(get_config(), {"metadata": dict(metadata)})
    run = await _begin_run(config, name, inputs)
    step = TracedStep(patch_config(config, callbacks=run.get_child()) if run else config)
    token = var_child_runnable_config.set(step.config)
    try:
        yield step
    except BaseException as error:
        if run:
            await _end_interrupted_run(run, error)
        raise
    else:
        if run:
            await _end_run(run, step)
    finally:
        var_child_runnable_config.reset(token)


async def _begin_run(
    config: RunnableConfig, name: str, inputs: Mapping[str, Any]
) -> AsyncCallbackManagerForChainRun | None:
    manager = get_async_callback_manager_for_config(config)
    if not manager.handlers:
        return None
    return await manager.on_chain_start(None, dict(inputs), name=name)


async def _end_run(run: AsyncCallbackManagerForChainRun, step: TracedStep) -> None:
    if step.error:
        await run.on_chain_error(StepFailed(step.error))
    else:
        await run.on_chain_end(step.outputs)


async def _end_interrupted_run(run: AsyncCallbackManagerForChainRun, error: BaseException) -> None:
    """End the run of a step that has raised; a question to a human is no failure."""
    if isinstance(error, GraphBubbleUp):
        await run.on_chain_end({"interrupted": True})
    else:
        await run.on_chain_error(error)
