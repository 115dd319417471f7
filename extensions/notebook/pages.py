"""Writes an outcome, and a graph, as HTML that loads nothing and runs nothing."""

from collections.abc import Iterator
from html import escape
from typing import Final

from markdown_it import MarkdownIt

from extensions.notebook.plan_picture import Box, draw_boxes, draw_plan
from graph.display.labels import format_seconds, format_status
from graph.runs.outcome import Outcome
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.text.markdown import escape_active_markdown, format_answer
from nodes.text.plain_text import make_printable, to_one_line
from state import Answer, Claim

MAX_CLAIMS: Final = 50
MAX_CELL_CHARS: Final = 300
MAX_ANSWER_CHARS: Final = 100_000
CELL: Final = ' style="text-align:left;vertical-align:top"'


def write_outcome(outcome: Outcome) -> str:
    """Return the answer, its claims with their proofs, and the plan; or the error."""
    return f"<div>{''.join(_list_parts(outcome))}</div>"


def _list_parts(outcome: Outcome) -> Iterator[str]:
    yield f"<p><small>{escape(_describe(outcome))}</small></p>"
    if outcome.answer:
        yield _write_answer(outcome.answer)
        if outcome.answer.claims:
            yield _fold("Claims and their proofs", _write_claims(outcome.answer.claims))
    for question in outcome.questions:
        yield f"<p><b>Waits for you:</b> {_cell(str(question.get('question') or ''))}</p>"
    if outcome.error:
        yield f"<pre>{escape(make_printable(outcome.error.format_line()))}</pre>"
    if outcome.plan:
        states = {name: report.status for name, report in outcome.results.items()}
        picture = draw_plan(outcome.plan, states)
        yield picture if not outcome.answer else _fold("Plan", picture, is_open=True)


def _describe(outcome: Outcome) -> str:
    """Return status, time, calls and cost in a line."""
    wall, cost = outcome.timing.get("wall_s"), outcome.usage.cost_usd
    parts = [format_status(outcome.status)]
    parts += [format_seconds(wall)] if wall else []
    parts += [f"{outcome.usage.model_calls} model calls"]
    parts += [f"${cost:.4f}"] if cost else []
    return " · ".join([*parts, f"thread {outcome.thread}"])


def _write_answer(answer: Answer) -> str:
    """Return an answer as HTML; pictures and HTML in it are text."""
    text = make_printable(format_answer(answer.model_dump(mode="json")))[:MAX_ANSWER_CHARS]
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return str(parser.render(escape_active_markdown(text)))


def _write_claims(claims: tuple[Claim, ...]) -> str:
    head = "".join(f"<th{CELL}>{each}</th>" for each in ("Proof", "Claim", "Source", "Quotation"))
    rows = "".join(
        f"<tr>{''.join(f'<td{CELL}>{_cell(text)}</td>' for text in _list_cells(claim))}</tr>"
        for claim in claims[:MAX_CLAIMS]
    )
    left = len(claims) - MAX_CLAIMS
    more = f"<p>{left} more: outcome.to_frame()</p>" if left > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _list_cells(claim: Claim) -> tuple[str, ...]:
    proof = f"{claim.proof or 'not checked'}{f': {claim.doubt}' if claim.doubt else ''}"
    return proof, claim.text, claim.source, claim.quotation


def _cell(text: str) -> str:
    return escape(to_one_line(text, MAX_CELL_CHARS))


def _fold(title: str, content: str, *, is_open: bool = False) -> str:
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{title}</summary>{content}</details>"


def write_graph(graph: SupervisorGraph) -> str:
    """Return the nodes of a graph and its ways forward; ways back are left out."""
    drawn = graph.get_graph()
    order = {name: place for place, name in enumerate(drawn.nodes)}
    boxes = [
        Box(
            name=name,
            label=node.name.strip("_"),
            note="",
            tooltip=node.name,
            needs=[
                (edge.source, not edge.conditional)
                for edge in drawn.edges
                if edge.target == name and order.get(edge.source, 0) < order[name]
            ],
        )
        for name, node in drawn.nodes.items()
    ]
    return draw_boxes(boxes)
