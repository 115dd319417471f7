"""Metadata for the calls that a node makes itself, without a graph that would carry it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs, var_child_runnable_config
from langgraph.config import get_config


@contextmanager
def use_metadata(metadata: Mapping[str, str]) -> Iterator[RunnableConfig]:
    """Add metadata to the config of everything called inside; yield that config."""
    config = merge_configs(get_config(), {"metadata": dict(metadata)})
    token = var_child_runnable_config.set(config)
    try:
        yield config
    finally:
        var_child_runnable_config.reset(token)
