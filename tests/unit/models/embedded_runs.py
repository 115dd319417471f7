"""Calls of the embedded model as the application makes them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.tools import tool

from nodes.models.embedded import EmbeddedModel
from nodes.models.embedded.planning import write_plan
from nodes.prompts import messages as prompts
from nodes.schemas.beside import PlanningValues, RevisionValues
from nodes.schemas.handoff import Constraints, Handoff
from nodes.schemas.team import Example, Team, Worker
from state import Plan, Report

ROOT = Path(__file__).resolve().parents[3]


EXAMPLES = tuple(
    Example.model_validate(item)
    for item in yaml.safe_load((ROOT / "teams/market_analysis/examples.yaml").read_text())
)


MISSION = EXAMPLES[0].request


TEAM = Team(
    name="market_analysis",
    description="Markets.",
    guidance="Split by subject.",
    workers=(
        Worker(name="researcher", description="Finds facts in documents.", instructions="Find."),
        Worker(name="analyst", description="Computes on tables with SQL.", instructions="Compute."),
        Worker(name="writer", description="Writes a document.", instructions="Write."),
        Worker(name="reviewer", description="Checks claims.", instructions="Check."),
    ),
    examples=EXAMPLES,
)


MATERIALS = {
    name: (ROOT / "teams/market_analysis/sample" / name).read_text()
    for name in ("market_caps.csv", "amazon.md", "microsoft.md", "alphabet.md", "cloud_market.html")
}


AWS = "AWS had net sales of 107,556 million USD in 2024."


def make_field_team(request: str, needs: Mapping[str, Sequence[str]]) -> Team:
    """Make a team with one example, in which each worker judges what it is named after."""
    tasks = [
        {"id": name, "worker": name, "description": f"Judge the {name}.", "depends_on": before}
        for name, before in needs.items()
    ]
    plan = Plan.model_validate({"goal": request, "tasks": tasks, "final_instruction": "Tell all."})
    workers = tuple(
        Worker(name=name, description=f"Judges the {name}.", instructions="Judge.")
        for name in needs
    )
    return TEAM.model_copy(
        update={"workers": workers, "examples": (Example(request=request, plan=plan),)}
    )


def ask_embedded(schema: type, messages: list[AnyMessage]) -> dict[str, Any]:
    reply = EmbeddedModel().bind_tools([schema], tool_choice=schema.__name__).invoke(messages)
    (call,) = reply.tool_calls
    assert call["name"] == schema.__name__
    return dict(call["args"])


def make_plan(
    request: str,
    materials: Mapping[str, str] | None = None,
    refusals: int = 0,
    *,
    team: Team = TEAM,
    revision: RevisionValues | None = None,
) -> Plan:
    values = PlanningValues(team, request, materials or {}, revision=revision)
    return Plan.model_validate(write_plan(values, refusals))


def make_handoff(intent: str, **more: Any) -> HumanMessage:
    limits = Constraints(max_tokens=1000, timeout_s=60, tier="fast")
    given = Handoff(task="t1", to="researcher", intent=intent, constraints=limits, **more)
    return prompts.build_handoff_message(given)


def list_calls(messages: list[AnyMessage], *tools: Any) -> list[tuple[str, dict[str, Any]]]:
    reply = EmbeddedModel().bind_tools([*tools, Report], tool_choice="any").invoke(messages)
    return [(call["name"], call["args"]) for call in reply.tool_calls]


def run_worker(intent: str, *tools: Any, **more: Any) -> Report:
    """Run a worker's whole loop as the application does."""

    agent = create_agent(
        EmbeddedModel(), list(tools), response_format=ToolStrategy(Report, handle_errors=False)
    )
    state = agent.invoke({"messages": [make_handoff(intent, **more)]})
    report: Report = state["structured_response"]
    return report


@tool
def search_documents(query: str, max_results: int = 6) -> dict[str, Any]:
    """Search the documents."""
    passage = f"Revenue of AWS. {AWS} The weather in Seattle was mild."
    return {"results": [{"source": "amazon.md", "text": passage}]}
