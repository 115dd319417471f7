"""Whether a run is saved, so that it can be resumed."""

from langchain_core.runnables import RunnableConfig


def has_checkpointer(config: RunnableConfig) -> bool:
    """Return whether a checkpointer saves the run; a thread id alone does not show that.

    LangGraph's server gives a run without a thread an id, but no checkpointer.
    """
    return bool(config.get("configurable", {}).get("__pregel_checkpointer"))
