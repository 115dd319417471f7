"""Compiled graphs of a class of our own."""

from typing import Any, TypeVar

from langgraph.graph.state import CompiledStateGraph

GraphT = TypeVar("GraphT", bound=CompiledStateGraph[Any, Any, Any, Any])


def change_class(graph: CompiledStateGraph[Any, Any, Any, Any], kind: type[GraphT]) -> GraphT:
    """Return a compiled graph as one of a subclass; LangGraph has no option for it."""
    graph.__class__ = kind
    assert isinstance(graph, kind)
    return graph
