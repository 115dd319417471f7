"""The tools that an MCP server offers: their arguments, and the answer as text and fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from mcp import types
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictStr,
    ValidationError,
)
from pydantic.json_schema import SkipJsonSchema

from graph.display.labels import format_status
from graph.display.summary import format_question
from graph.display.text import make_printable
from graph.runs.outcome import Outcome
from graph.settings import Settings
from graph.teams.team_loader import find_team, load_team
from nodes.errors import RequestInvalid, SupervisorError, TeamInvalid
from nodes.schemas.team import Team
from nodes.text.markdown import escape_active_markdown, format_answer
from nodes.text.plain_text import sanitize_line
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
    confidence: int | None = Field(description="0 to 100; null where it is unknown.")
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


MAX_ARGUMENT_BYTES: Final = 5_000_000
"""Limit for a request and its materials together."""


def _drop_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Cap = Annotated[Amount | SkipJsonSchema[None], Field(json_schema_extra=_drop_default)]
OptionalText = Annotated[StrictStr | SkipJsonSchema[None], Field(json_schema_extra=_drop_default)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunArguments(_Arguments):
    """A request to a team."""

    request: StrictStr = Field(min_length=1, description="What the team is to do, in your words.")
    materials: dict[StrictStr, StrictStr] = Field(
        default_factory=dict,
        description="Texts for the team to work on: name, such as sales.csv, to text.",
    )
    deadline_s: Cap = Field(None, description="Seconds; then it answers with what it has.")
    max_cost_usd: Cap = Field(None, description="US dollars; then it answers with what it has.")
    thread: OptionalText = Field(
        None, description="The thread of an earlier answer of this team, for a follow-up to it."
    )


class LocalRunArguments(RunArguments):
    """A request of a client on this machine, which may name files."""

    files: tuple[StrictStr, ...] = Field(
        (),
        max_length=200,
        description="Paths of documents to read, below the client's roots or the working folder.",
    )


class AnswerArguments(_Arguments):
    """An answer to what a run asks."""

    thread: StrictStr = Field(description="The thread that waits.")
    answer: StrictStr | dict[StrictStr, JsonValue] = Field(
        description="The answer as text. For a plan: accept, or reject: why, or the edited plan as "
        "JSON. With several questions open: an object, the task of each question to its answer."
    )


class ResumeArguments(_Arguments):
    """A run to resume."""

    thread: StrictStr = Field(description="The thread of a run that was cancelled or is partial.")


Arguments = TypeVar("Arguments", bound=_Arguments)


def read_arguments(kind: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """Return the checked arguments of a call.

    Raises:
        RequestInvalid: one is missing, unknown, too large or has a wrong type.
    """
    try:
        read = kind.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = str(first["loc"][0])[:80]
        raise RequestInvalid(
            "the arguments cannot be used",
            cause=f"{place}: {first['msg']}",
            next=f"send {', '.join(kind.model_fields)} as the tool's input schema says",
        ) from None
    if len(read.model_dump_json().encode(errors="replace")) > MAX_ARGUMENT_BYTES:
        raise RequestInvalid(
            f"the arguments are too large: more than {MAX_ARGUMENT_BYTES / 1e6:g} MB",
            next="send less text, or set SUPERVISE_DOCUMENTS to a folder, which is searched",
        )
    return read


def describe_arguments(kind: type[_Arguments]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    schema = kind.model_json_schema()
    del schema["title"], schema["description"]
    for field in schema["properties"].values():
        del field["title"]
    return schema


ANSWER_TOOL: Final = "answer_question"
RESUME_TOOL: Final = "resume_run"
MAX_DESCRIPTION_CHARS: Final = 2000


@dataclass(frozen=True)
class ServedTeam:
    """A team, and the folder by which a resume finds it again."""

    team: Team
    folder: Path


def load_served_teams(names: Sequence[str | Path], settings: Settings) -> dict[str, ServedTeam]:
    """Return teams by name.

    Raises:
        TeamInvalid: one cannot be loaded, or its name is taken.
    """
    served: dict[str, ServedTeam] = {}
    for name in names:
        folder = find_team(name, settings).resolve()
        team = load_team(folder, settings)
        if team.name in (*served, ANSWER_TOOL, RESUME_TOOL):
            raise TeamInvalid(
                f"two tools would be named {team.name!r}", next="rename the team's folder"
            )
        served[team.name] = ServedTeam(team, folder)
    return served


def list_tools(teams: Mapping[str, ServedTeam], *, is_local: bool) -> list[types.Tool]:
    """Return the descriptions of all tools.

    Args:
        is_local: whether the client runs on this machine and may name files.
    """
    run = LocalRunArguments if is_local else RunArguments
    offered: dict[str, tuple[str, type[_Arguments]]] = {
        **{name: (_describe_team(served.team), run) for name, served in teams.items()},
        ANSWER_TOOL: (
            "Answer the open question of a run, which then continues and returns its answer.",
            AnswerArguments,
        ),
        RESUME_TOOL: (
            "Resume a run that was cancelled, failed or answered in part. Finished tasks are kept.",
            ResumeArguments,
        ),
    }
    output = RunResult.model_json_schema()
    return [
        types.Tool(
            name=name, description=text, inputSchema=describe_arguments(kind), outputSchema=output
        )
        for name, (text, kind) in offered.items()
    ]


def _describe_team(team: Team) -> str:
    workers = "; ".join(f"{worker.name}: {worker.description}" for worker in team.workers)
    return sanitize_line(
        f"{team.description.rstrip('.')}. A team that plans the request, works on its parts in "
        f"parallel and answers with sources, gaps and confidence. Workers: {workers}",
        MAX_DESCRIPTION_CHARS,
    )
