"""`supervise run --compare-sequential`: the same plan in parallel, then one task at a time."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, get_args

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

from graph.commands.run import Job, print_outcome, read_request_text, run_job
from graph.display.progress_display import ProgressDisplay
from graph.display.stderr_console import print_to_stderr
from graph.display.summary import format_comparison
from graph.runs.outcome import Outcome
from graph.supervisor import build_supervisor
from nodes.models.rule_model import get_rule_model
from nodes.schemas.handoff import REPLY_FORMS
from state import Context, Tier


def compare(job: Job) -> int:
    """Run a request, then its plan again one task at a time; print the outcome and both times.

    The exit code is that of the first run; where the second has no answer, that of the second.
    """
    request, quiet = read_request_text(job.options.request), job.options.quiet
    load_libraries(job)
    parallel = run_job(job, request)
    if parallel.plan is None or not parallel.timing:
        print_to_stderr("not compared: the first run has no answer", style="yellow")
        return print_outcome(parallel, parallel.to_json(), **job.options.how)
    if not quiet:
        print_to_stderr("again with the same plan, one task at a time")
    again = replace(
        job,
        context=replace(job.context, sequential=True),
        display=ProgressDisplay(quiet=quiet),
        options=replace(job.options, trace=None, report=None),
    )
    sequential = run_job(again, request, plan=parallel.plan)
    comparison = compare_outcomes(parallel, sequential)
    timing = {**parallel.timing, **({"speedup": None} if parallel.timing else {})}  # it is measured
    shown = {**parallel.to_json(), "timing": timing, "comparison": comparison}
    code = print_outcome(parallel, shown, **job.options.how)
    for line in [] if quiet else format_comparison(comparison):
        print_to_stderr(line)
    if sequential.error:
        print_to_stderr(sequential.error.format_line(), style="red")
    return code if sequential.timing else sequential.exit_code


def load_libraries(job: Job) -> None:
    """Run the team without calling a tool or a configured model, so that no measured run loads it.

    Nothing is saved or shown. What ends this run early ends the measured ones too, with its reason.
    """
    models: dict[Tier, BaseChatModel] = {tier: _ToollessModel() for tier in get_args(Tier)}
    with suppress(RuntimeError):
        graph = build_supervisor(job.options.team, settings=job.settings, models=models)
        asyncio.run(graph.ainvoke({"request": "Name the workers."}, context=Context(max_steps=2)))


class _ToollessModel(BaseChatModel):
    """The built-in model, which reports at once."""

    @property
    def _llm_type(self) -> str:
        return "embedded"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("it is asked with the forms of its replies")

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with the forms of replies among the tools only."""
        named = [(convert_to_openai_tool(tool)["function"]["name"], tool) for tool in tools]
        forms = [tool for name, tool in named if name in REPLY_FORMS]
        model = get_rule_model().build()
        return model.bind_tools(forms, tool_choice=tool_choice, **kwargs)


def compare_outcomes(parallel: Outcome, sequential: Outcome) -> dict[str, Any]:
    """Return the measured seconds of two runs of one plan, and how many times longer one took.

    They count from the plan to the answer: the second run needed no planning.
    """
    runs = {"parallel": parallel, "sequential": sequential}
    described = {name: _describe_run(outcome) for name, outcome in runs.items()}
    seconds = [described[name]["seconds"] for name in runs]
    ratio = round(seconds[1] / seconds[0], 3) if all(seconds) else None
    return {**described, "ratio": ratio}


def _describe_run(outcome: Outcome) -> dict[str, Any]:
    timing = outcome.timing
    seconds = round(timing["wall_s"] - timing["planning_s"], 6) if timing else None
    return {
        "thread": outcome.thread,
        "status": outcome.status,
        "seconds": seconds,
        "tasks": len(outcome.results),
        "model_calls": outcome.usage.model_calls,
    }
