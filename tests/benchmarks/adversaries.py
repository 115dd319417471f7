"""Models that make a run as costly as they can, and random teams for them to work in."""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict

from nodes.schemas.team import Limits, Team, Worker
from state import Context

HABITS = ("fails", "calls", "escalates", "divides", "writes", "replans", "rejects", "mixed")
"""What a model does most: fail, call tools, escalate, plan compound tasks and time out, write to
the limit, find other than was planned, refuse answers; or all of it by chance."""
REASONS = ("out_of_scope", "ambiguous_input", "confidence_too_low", "timeout")
CONTRADICTING = (
    {"text": "The revenue of Acme was 12 million in 2023.", "source": "a.md"},
    {"text": "The revenue of Acme was 48 million in 2023.", "source": "b.md"},
)


class AdversaryModel(BaseChatModel):
    """Answers any request in the way that costs most; counts what it has written."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model_name: str = "worst"
    max_tokens: int = 200
    habit: str = "mixed"
    team: Any = None
    draw: random.Random
    spent: list[tuple[int, int]]
    """Tokens in and out of each answer, of all models that share it."""
    numbers: Any = count()

    @property
    def _llm_type(self) -> str:
        return "adversary"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools, as each client does."""
        return self.bind(tools=[convert_to_openai_tool(each) for each in tools])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        names = [each["function"]["name"] for each in kwargs.get("tools") or ()]
        read = sum(len(str(each.content).encode()) for each in messages)
        read += len(str(kwargs.get("tools") or "").encode())
        written = self.max_tokens if self.habit == "writes" else self.draw.randint(1, 60)
        self.spent.append((read, written))
        message = self._answer(names, messages)
        message.usage_metadata = UsageMetadata(
            input_tokens=read, output_tokens=written, total_tokens=read + written
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _answer(self, names: Sequence[str], messages: Sequence[BaseMessage]) -> AIMessage:
        if not names or self.draw.random() < 0.04:
            return AIMessage("No.", response_metadata={"finish_reason": "stop"})
        if self.draw.random() < 0.004:  # the wait before the next try takes time
            return AIMessage("Cut he", response_metadata={"finish_reason": "length"})
        own = [name for name in names if name not in FORMS]
        calls = own and self.draw.random() < (0.95 if self.habit == "calls" else 0.4)
        name = self.draw.choice(own) if calls else next((n for n in names if n in FORMS), names[0])
        args = {"words": f"x{next(self.numbers)}"} if calls else self._fill(name)
        call = tool_call(name=name, args=args, id=f"call-{next(self.numbers)}")
        return AIMessage("", tool_calls=[call], response_metadata={"finish_reason": "tool_calls"})

    def _fill(self, name: str) -> dict[str, Any]:
        if self.draw.random() < 0.05:
            return {}
        forms: Mapping[str, Callable[[], dict[str, Any]]] = {
            "Plan": self._plan,
            "Report": self._report,
            "Answer": lambda: {"text": "It is so.", "confidence": 10},
            "Critique": self._criticize,
            "PlanReview": lambda: {"makes_sense": False, "reason": "other"},
            "TaskCheck": lambda: {"is_found": False},
            "Decision": self._decide,
            "Recruit": lambda: {"role": "one", "instructions": "Do it.", "tools": []},
            "Refinement": lambda: {"description": self._describe(), "reason": "other"},
        }
        return forms[name]() if name in forms else {}

    def _plan(self) -> dict[str, Any]:
        size = self.draw.randint(1, self.team.max_tasks)
        ids = [f"t{next(self.numbers)}" for _ in range(size)]
        workers = [worker.name for worker in self.team.roster]
        tasks = []
        for at, name in enumerate(ids):
            needs = [{"task": each, "required": False} for each in ids[:at] if self._chance(0.3)]
            compound = self.team.strategy == "recursive" and self._chance(0.6)
            task = {"id": name, "description": self._describe(), "depends_on": needs}
            tasks.append({**task, "worker": self.draw.choice(workers), "is_compound": compound})
        kind = self.draw.choice(("merge", "select", "reduce"))
        return {"goal": "All of it.", "tasks": tasks, "aggregation": kind}

    def _report(self) -> dict[str, Any]:
        habit = self.draw.choice(HABITS[:-1]) if self.habit == "mixed" else self.habit
        said = {"output": f"Part {next(self.numbers)} is 12.", "claims": [*CONTRADICTING]}
        if habit in ("fails", "divides") and self._chance(0.85):
            return {"status": "failed", "output": "It does not work.", "confidence": 0}
        if habit in ("escalates", "divides"):
            reason = "timeout" if habit == "divides" else self.draw.choice(REASONS)
            names = " ".join(worker.name for worker in self.team.roster)
            asks = {"reason": reason, "message": f"Ask {names}.", "partial": "some"}
            return {**said, "status": "escalated", "escalation": asks}
        if habit == "replans":
            return {**said, "found_as_expected": False, "confidence": 80}
        return {**said, "confidence": self.draw.choice((5, 20, 80))}

    def _criticize(self) -> dict[str, Any]:
        back = [{"task": f"t{at}", "fix": "again"} for at in range(next(self.numbers))][-200:]
        return {"accepted": False, "problems": ["bad"], "send_back": back}

    def _decide(self) -> dict[str, Any]:
        workers = [worker.name for worker in self.team.roster]
        return {
            "worker": self.draw.choice(workers),
            "secondary": self.draw.choice(workers),
            "task": self._describe(),
            "secondary_task": self._describe(),
            "needs_plan": self._chance(0.5),
            "is_done": self._chance(0.05),
        }

    def _describe(self) -> str:
        return f"Compare part {next(self.numbers)} with the figures of alpha.md, beta and gamma."

    def _chance(self, share: float) -> bool:
        return self.draw.random() < share

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # type: ignore[override]
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, **kwargs)


FORMS = frozenset(
    ("Plan", "Report", "Answer", "Critique", "PlanReview", "TaskCheck", "Decision", "Recruit")
) | {"Refinement", "Verdict", "SecondLook"}


def build_tools(names: Sequence[str]) -> dict[str, BaseTool]:
    """Return tools that answer anything, by name."""

    def note(words: str) -> str:
        """Note some words."""
        return f"noted {words} " * 10

    return {name: tool(name, description="Note some words.")(note) for name in names}


def draw_team(draw: random.Random, depth: int = 0) -> Team:
    """Return a random team; some workers are teams."""
    size, workers = draw.randint(1, 4), []
    for at in range(size):
        about: dict[str, Any] = {"name": f"w{depth}{at}", "description": "Compares parts."}
        about["limits"] = Limits(max_turns=draw.randint(1, 3))
        if depth < 1 and draw.random() < 0.2:
            workers.append(Worker(**about, team=draw_team(draw, depth + 1)))
            continue
        tools = (f"note{depth}{at}",) if draw.random() < 0.5 else ()
        fallback = draw.choice(["", *(f"w{depth}{n}" for n in range(size) if n != at)])
        workers.append(Worker(**about, instructions="Do.", tools=tools, fallback=fallback))
    rungs: Any = ["refine", "tier", "reassign", "split", "assume"]
    draw.shuffle(rungs)
    return Team(
        name=f"team{depth}",
        description="Compares.",
        guidance="Plan.",
        workers=tuple(workers),
        strategy=draw.choice(("plan", "plan", "route", "step", "recursive")),
        plan_when_needed=draw.random() < 0.5,
        ladder=tuple(rungs[: draw.randint(0, 5)]),
        max_tasks=draw.randint(1, 5),
        max_steps=draw.randint(1, 20),
        max_attempts=draw.randint(1, 5),
        max_plan_repairs=draw.randint(0, 2),
        max_revisions=draw.randint(0, 2),
        max_stalls=draw.randint(0, 2),
        max_plan_reviews=draw.randint(0, 3),
        max_recursion=draw.randint(0, 1),
        max_breadth=draw.randint(2, 3),
        critic=draw.choice(("off", "on", "below")),
        max_critic_rounds=draw.randint(0, 2),
        recruit=depth == 0 and draw.random() < 0.2,
        max_synthesis_chars=2_000,
    )


def draw_caps(draw: random.Random) -> Context:
    """Return random caps; some are not set."""

    def maybe(value: Any) -> Any:
        return value if draw.random() < 0.5 else None

    return Context(
        strategy=maybe(draw.choice(("plan", "route", "step", "recursive", "single"))),
        critic=maybe(draw.choice(("off", "on"))),
        max_steps=maybe(draw.randint(1, 12)),
        max_attempts=maybe(draw.randint(1, 4)),
        max_tasks=maybe(draw.randint(1, 5)),
        max_tokens=maybe(draw.choice((5_000, 20_000, 60_000, 400_000))),
        max_cost_usd=maybe(draw.choice((0.03, 0.1, 0.3, 2.0))),
        max_concurrency=maybe(draw.randint(1, 8)),
        sequential=draw.random() < 0.15,
    )
