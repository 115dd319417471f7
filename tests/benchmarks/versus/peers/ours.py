"""This repository: `arun` and `aresume`, with the run database, locks and the trace."""

from langchain_core.tools import tool

from graph import Outcome
from graph.runs.runner import aresume, arun
from graph.settings import Settings
from nodes.schemas.team import Team, Worker
from tests.benchmarks.versus.peers.serve import Order, Returned, read_offer, serve
from tests.benchmarks.versus.work import INSTRUCTIONS, MODEL, REQUEST, WORKERS


@tool
def read_document(name: str) -> str:
    """Return the words of an offer, by its name, such as north.md."""
    return read_offer(name)


read_document.metadata = {"reads": ["private"], "sends": "nothing"}
TEAM = Team(
    name="buyers",
    description="Compares offers.",
    guidance="One task for each offer that is read, and for each cost.",
    workers=tuple(
        Worker(
            name=name,
            description=description,
            instructions=INSTRUCTIONS,
            tools=("read_document",) if name == "reader" else (),
        )
        for name, description in WORKERS.items()
    ),
)


async def run(order: Order) -> Returned:
    """Run the request on a thread, or resume it."""
    settings = Settings(
        _env_file=None,
        openai_base_url=order.base_url,
        openai_api_key="sk-versus",
        database_url=f"sqlite:///{order.folder / 'runs.sqlite'}",
        **dict.fromkeys(("model_fast", "model_standard", "model_strong"), f"openai:{MODEL}"),
    )
    tools = {"read_document": read_document}
    if order.is_resumed:
        return describe(await aresume(order.thread, team=TEAM, settings=settings, tools=tools))
    return describe(
        await arun(REQUEST, team=TEAM, settings=settings, thread=order.thread, tools=tools)
    )


def describe(outcome: Outcome) -> Returned:
    """Return the answer, with each claim that is not proved and each gap."""
    if outcome.answer is None:
        raise RuntimeError(str(outcome.error))
    doubts = [f"unproved: {each.quotation}" for each in outcome.answer.claims if each.doubt]
    marks = [*doubts, *(f"gap: {gap}" for gap in outcome.answer.gaps)]
    return Returned(answer=outcome.answer.text, marks=marks, status=outcome.status)


if __name__ == "__main__":
    serve(run, "langgraph", "langchain-openai")
