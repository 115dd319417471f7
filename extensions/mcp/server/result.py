"""What a tool of the MCP server returns: the answer as Markdown, and as fields."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Annotated, Any, Final

from mcp import types
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

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


_Text = Annotated[str, AfterValidator(make_printable)]
_FIRST: Final = BeforeValidator(lambda items: list(items)[:MAX_ITEMS])
_Subject = Annotated[_Text, BeforeValidator(attrgetter("subject"))]


class _Result(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class ResultAnswer(_Result):
    """The answer of a run."""

    text: _Text
    confidence: int | None = Field(
        description="0 to 100; null where it is unknown or was not judged."
    )
    gaps: Annotated[list[_Text], _FIRST]
    contradictions: Annotated[list[_Subject], _FIRST]
    sources: Annotated[list[_Text], _FIRST]


class ResultQuestion(_Result):
    """A question that a run waits for."""

    kind: str = Field(description="plan: approve it before it runs; question: about a task.")
    task: str = Field(description="The task or the id by which an answer names it.")
    question: str


class ResultUsage(_Result):
    """What a run has used."""

    model_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = Field(description="By list prices; null where one is unknown.")


class RunResult(_Result):
    """The structured content of a tool's result."""

    thread: str = Field(description="For a follow-up, an answer to a question, or a resume.")
    status: RunStatus
    answer: ResultAnswer | None
    questions: list[ResultQuestion]
    usage: ResultUsage


def build_result(outcome: Outcome) -> types.CallToolResult:
    """Return the result of a call; a run that ended by an error is a tool error."""
    if outcome.error:
        return build_error_result(outcome.error)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=_format_text(outcome))],
        structuredContent=_summarize(outcome).model_dump(mode="json"),
    )


def build_error_result(error: Exception) -> types.CallToolResult:
    """Return a tool error of one line; of an error of ours the one that the command line prints."""
    line = f"error[UNEXPECTED] {type(error).__name__}: {error}"
    line = error.format_line() if isinstance(error, SupervisorError) else line
    shown = make_printable(" ".join(line.split()))[:2000]
    return types.CallToolResult(content=[types.TextContent(type="text", text=shown)], isError=True)


def format_question_text(question: Question) -> str:
    """Return a question as text, a plan with a line for each of its tasks."""
    return make_printable("\n".join(format_question(question)))


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
    questions = [
        ResultQuestion(
            kind=str(each.get("kind", "question")),
            task=str(each.get("task") or each["id"]),
            question=format_question_text(each),
        )
        for each in outcome.questions
    ]
    given = {name: getattr(outcome, name) for name in ("thread", "status", "answer", "usage")}
    return RunResult.model_validate({**given, "questions": questions})
