"""Names of the runs that tracers show: what a run is for, and the task it is for."""

from collections.abc import Mapping
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs

from state import Tier

WORK: Final = "work"
TURN: Final = "turn"
"""A model call that may call tools; one that may only report is named `report`."""
AGENT_PATH: Final = "agent_path"
"""Metadata: the workers whose attempts a call is in, the outermost first."""
PURPOSES_BY_SCHEMA: Final[Mapping[str, str]] = {
    "Plan": "plan",
    "Decision": "route",
    "PlanReview": "plan review",
    "TaskCheck": "surprise check",
    "Report": "report",
    "Refinement": "refine",
    "Recruit": "recruit",
    "Verdict": "judge",
    "Answer": "answer",
    "Critique": "critic",
}
"""The purpose of a model call by what it asks for, unless the caller names another one."""
_PURPOSES_OF_TASKS: Final = frozenset(("report", TURN, "refine", "recruit"))


def get_purpose(schema: str) -> str:
    """Return what a model call for a value of a schema is for."""
    return PURPOSES_BY_SCHEMA.get(schema, schema.lower() or "model call")


def name_attempt(task: str, worker: str) -> str:
    """Return the name of an attempt's run, such as `work: t3 (researcher)`."""
    return f"{WORK}: {task} ({worker})"


def name_speculation(task: str) -> str:
    """Return the name of the run in which a task's first call is made before the plan is known."""
    return f"speculated: {task}"


def name_agent(around: Mapping[str, Any], worker: str, task: str) -> dict[str, str]:
    """Return the metadata that makes an attempt an agent in OpenTelemetry's traces.

    An agent inside another one of its name would be taken for a part of it.

    Args:
        around: the metadata of the node.
    """
    path: str = around.get(AGENT_PATH, "")
    name = f"{worker} ({task})" if worker in path.split("/") else worker
    return {"agent_name": name, AGENT_PATH: f"{path}/{worker}".lstrip("/")}


def label_model_run(
    config: RunnableConfig | None, purpose: str, *, tier: Tier, model: str
) -> RunnableConfig:
    """Return the config of a model call with its name, such as `report: t3`, and metadata."""
    around = ensure_config(config)
    task = around["metadata"].get("task", "") if purpose in _PURPOSES_OF_TASKS else ""
    metadata: dict[str, Any] = {"purpose": purpose, "tier": tier, "model": model}
    name = f"{purpose}: {task}" if task else purpose
    return merge_configs(around, {"run_name": name, "metadata": metadata})
