"""Whether a run is saved, so that it can be resumed."""

from typing import Final

from langchain_core.runnables import RunnableConfig

CHECKPOINTER_KEY: Final = "__pregel_checkpointer"
"""Of a `configurable`: LangGraph lends an inner graph its checkpointer under this name."""


def has_checkpointer(config: RunnableConfig) -> bool:
    """Return whether a checkpointer saves the run; a thread id alone does not show that.

    LangGraph's server gives a run without a thread an id, but no checkpointer.
    """
    return bool(config.get("configurable", {}).get(CHECKPOINTER_KEY))
