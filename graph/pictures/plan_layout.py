"""Where the boxes and arrows of a plan are drawn, from left to right, by the package graphlay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph.pictures.task_groups import GroupEdge
from nodes.errors import UsageError
from nodes.tools.framework.extras import PackageMissing, write_install_command

MAX_BOXES: Final = 250
MAX_ARROWS: Final = 500
"""Above these, a layout takes many seconds, and a picture can no longer be read."""
MANY_ARROWS: Final = 150
"""Above it, fewer crossings would cost many seconds."""
MAX_CROSSED_LAYERS: Final = 4_000
"""Of all arrows together: those between the layers of their two boxes."""
Point = tuple[float, float]


class PlanTooLarge(UsageError):
    """A plan has too many boxes or arrows for a picture."""

    code = "PLAN_TOO_LARGE"


@dataclass(frozen=True)
class PlanLayout:
    """Places in pixels; the left upper corner of the drawing is (0, 0)."""

    corners: Sequence[Point]
    """The left upper corner of each box."""
    lines: Sequence[Sequence[Point]]
    """The points of each arrow, from the border of a box to that of another."""
    size: Point


def lay_out_plan(sizes: Sequence[Point], edges: Sequence[GroupEdge]) -> PlanLayout:
    """Return where boxes of these widths and heights are drawn; equal input, equal output.

    Raises:
        PackageMissing: graphlay is not installed.
        PlanTooLarge: it cannot be drawn.
    """
    refuse_too_large(len(sizes), len(edges))
    try:
        import graphlay
    except ImportError:
        raise PackageMissing(
            "a plan as SVG needs a package that is not installed: graphlay",
            next=f"{write_install_command('pictures')}, or --format mermaid",
        ) from None
    graph = graphlay.Graph()
    for index, (width, height) in enumerate(sizes):
        graph.node(index, width=width, height=height)
    for edge in edges:
        graph.edge(edge.source, edge.target)
    options = {
        "direction": "leftright",
        "spacing": {"layer_gap": 64, "node_gap": 20, "isolated_gap": 20},
        "routing": {"style": "orthogonal"},
        "effort": "balanced" if len(edges) <= MANY_ARROWS else "fast",
        "limits": {"max_dummies": MAX_CROSSED_LAYERS},
    }
    try:
        found = graphlay.layout(graph, options=options)
    except graphlay.GraphlayError:
        raise _build_refusal(len(sizes), len(edges)) from None
    return _read_layout(found.to_dict(), sizes)


def refuse_too_large(boxes: int, arrows: int) -> None:
    """Do nothing if a picture can have so many boxes and arrows.

    Raises:
        PlanTooLarge: it has too many.
    """
    if boxes > MAX_BOXES or arrows > MAX_ARROWS:
        raise _build_refusal(boxes, arrows)


def _build_refusal(boxes: int, arrows: int) -> PlanTooLarge:
    return PlanTooLarge(
        f"the plan is too large for a picture: {boxes} boxes and {arrows} arrows",
        next="--what timeline, or `supervise trace THREAD --format html`",
    )


def _read_layout(found: dict[str, Any], sizes: Sequence[Point]) -> PlanLayout:  # JSON of graphlay
    low, high = found["bounds"]["min"], found["bounds"]["max"]

    def move(point: dict[str, float]) -> Point:
        return point["x"] - low["x"], point["y"] - low["y"]

    centers = [move(node["center"]) for node in found["nodes"]]
    return PlanLayout(
        [
            (x - width / 2, y - height / 2)
            for (x, y), (width, height) in zip(centers, sizes, strict=True)
        ],
        [[move(point) for point in edge["points"]] for edge in found["edges"]],
        move(high),
    )
