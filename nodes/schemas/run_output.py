"""What a run returns to its caller; the whole state remains in the checkpoint."""

from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.graph.ui import AnyUIMessage
from pydantic import Field
from typing_extensions import TypedDict

from state import Answer, Plan, Report, RunStatus, RunUsage, Timing, Todo


class RunOutput(TypedDict, total=False):
    """The answer, the plan that led to it, and what each task found; materials are left out."""

    answer: Annotated[
        Answer | None,
        Field(description="The answer, with its confidence, gaps, contradictions and sources."),
    ]
    status: Annotated[
        RunStatus,
        Field(
            description="How the run ended; `partial` means that parts are missing, `passages` "
            "that documents are quoted and no language model has read them."
        ),
    ]
    request: Annotated[str, Field(description="The request that was answered.")]
    messages: Annotated[
        list[AnyMessage], Field(description="The chat; its last message is the answer to read.")
    ]
    plan: Annotated[Plan | None, Field(description="The current plan.")]
    plans: Annotated[tuple[Plan, ...], Field(description="All versions of the plan, in order.")]
    results: Annotated[
        dict[str, Report], Field(description="What came of each task, by the task's id.")
    ]
    usage: Annotated[RunUsage, Field(description="Model calls, tokens and US dollars.")]
    timing: Annotated[Timing, Field(description="Seconds, and what parallel work saved.")]
    todos: Annotated[tuple[Todo, ...], Field(description="The plan's tasks, as a to-do list.")]
    ui: Annotated[list[AnyUIMessage], Field(description="The plan, for a chat that draws it.")]
