"""Answer when no worker can be reached, and stop calling an endpoint that is dead.

    python -m examples.mechanisms.outage

The first call, of the planner, is answered; after it the connection breaks each time. After six
failures in a row the circuit of the model opens, and nothing is sent any more. The run ends with an
answer that says what is missing and whom to ask (`contact` of `team.md`). The next run, for which
no model can make a plan, ends at once with such an answer too, without a request. After 30 seconds
one request would test whether the endpoint is back. The endpoint is one on this machine.
"""

from examples.mechanisms.scripted import Narrator, make_team, show
from examples.mechanisms.served import serve
from graph import Outcome, arun
from tests.endpoint import Fault, Scenario, script_tasks

REQUEST = "Compare the parts and say which one is best."
SCENARIO = Scenario(
    tasks=script_tasks({"a": (), "b": ()}), faults=(Fault(kind="reset", schema="Report"),)
)
TEAM = make_team(
    "desk", {"researcher": "Finds figures."}, contact="the research desk, desk@example.org"
)


async def run_example() -> list[tuple[Outcome, int]]:
    """Run two requests; return the outcome of each, and how many calls the endpoint received."""
    ended: list[tuple[Outcome, int]] = []
    async with serve(SCENARIO) as (endpoint, settings):
        for _ in range(2):
            print(f"request: {REQUEST}")
            before, narrator = len(endpoint.requests), Narrator()
            outcome = await arun(
                REQUEST, team=TEAM, settings=settings, on_event=narrator.print_event
            )
            calls = len(endpoint.requests) - before
            if outcome.answer:
                print(f"answer ({outcome.status}): {outcome.answer.text}")
            if outcome.error:
                print(outcome.error.format_line())
            print(f"calls that the endpoint received: {calls}\n")
            ended.append((outcome, calls))
    return ended


if __name__ == "__main__":
    show(__doc__, run_example)
