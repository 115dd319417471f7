"""A team written in Python, with tools and a model that are objects of the program.

python -m examples.embedding.own_tools_and_models
"""

from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool, tool

from supervisor_worker import Outcome, Team, Worker, run

STOCK = {"heat pump": 3, "boiler": 12}


@tool
def count_stock(item: Literal["heat pump", "boiler"]) -> str:
    """Return how many pieces of an item are in stock."""
    found = next((name for name in STOCK if name in item.lower()), "")
    return f"{STOCK[found]} pieces of {found} are in stock" if found else f"no {item}"


# What a tool reads and sends decides which other tools may follow it; undeclared is trusted least.
count_stock.metadata = {"reads": ["private"], "sends": "nothing"}

TOOLS: dict[str, BaseTool] = {"count_stock": count_stock}
TEAM = Team(
    name="warehouse",
    description="Answers questions about the stock.",
    guidance="One task for each item that is asked about.",
    workers=(
        Worker(
            name="clerk",
            description="Counts the stock of an item, such as pieces of a heat pump.",
            instructions="Look up every item with count_stock.",
            tools=("count_stock",),
        ),
    ),
)


def run_example(models: dict[str, BaseChatModel] | None = None) -> Outcome:
    """Run the team; `models` are chat models for some tiers, such as {"fast": ChatOpenAI(...)}."""
    outcome = run("How many pieces of heat pump?", team=TEAM, tools=TOOLS, models=models)
    print(outcome.answer.text if outcome.answer else outcome.error)
    return outcome


if __name__ == "__main__":
    run_example()
