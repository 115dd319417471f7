"""What a tool of the MCP server returns: the answer as Markdown, and as fields."""

from collections.abc import Mapping
from typing import Any, Final

from mcp import types
from pydantic import BaseModel, Field

from graph.display.labels import format_status
from graph.display.summary import format_question
from graph.display.text import make_printable
from graph.runs.outcome import Outcome
from nodes.errors import SupervisorError
from nodes.text.markdown import escape_active_markdown, format_answer
from state import RunStatus

Question = Mapping[str, Any]
"""An open question, as `Outcome.questions` holds it."""
MAX_ITEMS: Final = 100
"""Of each list in an answer."""


class ResultAnswer(BaseModel):
    """The answer of a run."""

    text: str
    confidence: int | None = Field(
        description="0 to 100; null where it is unknown or was not judged."
    )
    gaps: list[str]
    contradictions: list[str]
    sources: list[str]


class ResultQuestion(BaseModel):
    """A question that a run waits for."""

    kind: str = Field(description="plan: approve it before it runs; question: about a task.")
    task: str = Field(description="The task or the id by which an answer names it.")
    question: str


class ResultUsage(BaseModel):
    """What a run has used."""

    model_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = Field(description="By list prices; null where one is unknown.")


class RunResult(BaseModel):
    """The structured content of a tool's result."""

    thread: str = Field(description="For a follow-up, an answer to a question, or a resume.")
    status: RunStatus
    answer: ResultAnswer | None
    questions: list[ResultQuestion]
    usage: ResultUsage


def describe_result() -> dict[str, Any]:
    """Return the JSON schema of the structured content."""
    return RunResult.model_json_schema()


def build_result(outcome: Outcome) -> types.CallToolResult:
    """Return the result of a call; a run that ended by an error is a tool error."""
    if outcome.error:
        return build_error_result(outcome.error)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=_format_text(outcome))],
        structuredContent=_summarize(outcome).model_dump(mode="json"),
    )


def build_error_result(error: SupervisorError) -> types.CallToolResult:
    """Return a tool error with the line that the command line prints."""
    return build_error_line_result(error.format_line())


def build_error_line_result(line: str) -> types.CallToolResult:
    """Return a tool error of one line."""
    shown = make_printable(" ".join(line.split()))[:2000]
    return types.CallToolResult(content=[types.TextContent(type="text", text=shown)], isError=True)


def format_question_text(question: Question) -> str:
    """Return a question as text, a plan with a line for each of its tasks."""
    return make_printable("\n".join(format_question(question)))


def name_question(question: Question) -> str:
    """Return the name by which an answer assigns itself to a question."""
    return str(question.get("task") or question["id"])


def _format_text(outcome: Outcome) -> str:
    parts = []
    if outcome.answer:
        answer = format_answer(outcome.answer.model_dump(mode="json"))
        parts.append(escape_active_markdown(make_printable(answer)))
    for question in outcome.questions:
        parts.append(format_question_text(question))
    if outcome.questions:
        parts.append(
            "The run waits for the answer. next: ask the user, then call answer_question with "
            f"thread {outcome.thread}"
        )
    elif not outcome.answer:
        parts.append("The run has no answer.")
    parts.append(f"Status: {format_status(outcome.status)} · thread {outcome.thread}")
    return "\n\n".join(parts)


def _summarize(outcome: Outcome) -> RunResult:
    given = outcome.answer
    usage = outcome.usage
    answer = given and ResultAnswer(
        text=make_printable(given.text),
        confidence=given.confidence,
        gaps=_list_lines(given.gaps),
        contradictions=_list_lines(each.subject for each in given.contradictions),
        sources=_list_lines(given.sources),
    )
    return RunResult(
        thread=outcome.thread,
        status=outcome.status,
        answer=answer,
        questions=[
            ResultQuestion(
                kind=str(question.get("kind", "question")),
                task=name_question(question),
                question=format_question_text(question),
            )
            for question in outcome.questions
        ],
        usage=ResultUsage(
            model_calls=usage.model_calls,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=usage.cost_usd,
        ),
    )


def _list_lines(items: Any) -> list[str]:  # any iterable of texts
    return [make_printable(item) for item in items][:MAX_ITEMS]
