"""LangGraph's private names in the config of a running node, all that the house reads.

`tests/unit/test_node_config.py` fails when a release of LangGraph changes one.
"""

from typing import Final

PREFIX: Final = "__pregel_"
CHECKPOINTER_KEY: Final = "__pregel_checkpointer"
"""Under which an inner graph is lent the checkpointer of the outer one."""
RUNTIME_KEY: Final = "__pregel_runtime"
TASK_ID_KEY: Final = "__pregel_task_id"
RESUMING_KEY: Final = "__pregel_resuming"
"""In the config of a graph that is a node of another one: whether that one is resumed."""
STREAM_KEY: Final = "__pregel_stream"
SCRATCHPAD_KEY: Final = "__pregel_scratchpad"
DURABILITY_KEY: Final = "__pregel_durability"
