"""Shows outcomes, plans and graphs in a notebook, without a server; and the progress of a run."""

from typing import TYPE_CHECKING, Any

from graph.extensions import Extension

if TYPE_CHECKING:
    from graph.runs.outcome import Outcome
    from graph.topology.supervisor_graph import SupervisorGraph
    from state import Plan


class _Notebook(Extension):
    def register(self) -> None:
        """Add the method that IPython looks for to the types: the house knows no notebook."""
        from graph.runs.outcome import Outcome
        from graph.topology.supervisor_graph import SupervisorGraph
        from state import Plan

        # `setattr`, since a type checker knows that the classes do not declare them.
        for shown, name, method in (
            (Outcome, "_repr_html_", _show_outcome),
            (Plan, "_repr_html_", _show_plan),
            (SupervisorGraph, "_repr_mimebundle_", _show_graph),
        ):
            setattr(shown, name, method)


def _show_outcome(outcome: "Outcome") -> str:
    from extensions.notebook.pages import write_outcome

    return write_outcome(outcome)


def _show_plan(plan: "Plan") -> str:
    from extensions.notebook.plan_picture import draw_plan

    return draw_plan(plan)


def _show_graph(graph: "SupervisorGraph", **_: Any) -> dict[str, str]:
    """Return the graph's nodes and edges; LangGraph's own picture is drawn by a web service."""
    from extensions.notebook.pages import write_graph

    return {"text/plain": repr(graph), "text/html": write_graph(graph)}


EXTENSION = _Notebook()
