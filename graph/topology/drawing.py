"""Drawings of compiled graphs: why each edge is taken, and only the steps that can be reached."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from langchain_core.runnables.graph import Edge, Graph
from langgraph.graph import START


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


def _get_outer(name: str) -> str:
    return name.partition(":")[0]
