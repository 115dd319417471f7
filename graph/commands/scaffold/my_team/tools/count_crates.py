"""Count the crates that bottles need: an example of a tool of a team's own.

A file here whose function has the file's name is a tool; a worker's `tools` names it.
"""

import math
from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from supervisor_worker import ToolReport

ACCESS = {"reads": [], "sends": "nothing"}
"""What the tool reads of the user's (`private`) or of others (`untrusted`), and what it sends."""


@tool
def count_crates(
    total_bottles: Annotated[int, Field(description="Bottles to pack, in total", ge=1)],
    bottles_per_crate: Annotated[int, Field(description="Bottles in a full crate", ge=1)] = 24,
) -> dict[str, Any]:
    """Return how many crates a number of bottles needs, and the places that stay empty.

    Example: count_crates(total_bottles=500, bottles_per_crate=24)
    """
    crates = math.ceil(total_bottles / bottles_per_crate)
    empty = crates * bottles_per_crate - total_bottles
    report = ToolReport()
    needed, left = "crates" if crates > 1 else "crate", "place" if empty == 1 else "places"
    report.lines.append(
        f"{total_bottles} bottles need {crates} {needed}; {empty} {left} left empty."
    )
    report.add_claim(report.lines[0], "count_crates")
    return report.to_json()
