"""Drawings of compiled graphs: why each edge is taken, and only the steps that can be reached."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.graph import Edge, Graph
from langgraph.graph import START
from langgraph.graph.state import CompiledStateGraph


@dataclass(frozen=True)
class Drawing:
    """What LangGraph's drawing of a graph does not show by itself."""

    labels: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Why an edge is taken, by its two nodes."""
    hidden: frozenset[str] = frozenset()
    """Nodes that the team's own settings never reach."""
    entry: str = ""
    """The only node to which the start is drawn, if not empty."""

    def apply(self, drawn: Graph) -> Graph:
        """Return a drawing with the labels and without the hidden nodes.

        A node inside another node is named `outer:inner`; its edges to others are those of `outer`.
        """
        for name in list(drawn.nodes):
            if _get_outer(name) in self.hidden:
                drawn.remove_node(drawn.nodes[name])
        if self.entry:
            others = [edge for edge in drawn.edges if edge.source != START]
            drawn.edges = [Edge(START, self.entry), *others]
        drawn.edges = [
            edge._replace(data=self.labels.get((_get_outer(edge.source), _get_outer(edge.target))))
            if _get_outer(edge.source) != _get_outer(edge.target)
            else edge
            for edge in drawn.edges
        ]
        return drawn


class DrawnGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph whose drawing says why each edge is taken."""

    drawing: Drawing

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """Return the drawing."""
        return self.drawing.apply(super().get_graph(config, xray=xray))

    async def aget_graph(
        self, config: RunnableConfig | None = None, *, xray: int | bool = False
    ) -> Graph:
        """Return the drawing; a server, and so Studio, calls this."""
        return self.drawing.apply(await super().aget_graph(config, xray=xray))


def _get_outer(name: str) -> str:
    return name.partition(":")[0]
