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
    total_bottles: Annotated[int, Field(description="Bottles that need a place", ge=1)],
    crate_size: Annotated[int, Field(description="How many a full crate holds", ge=1)] = 24,
) -> dict[str, Any]:
    """Return how many crates a number of bottles needs, and the places that stay empty.

    Example: count_crates(total_bottles=500, crate_size=24)
    """
    crates = math.ceil(total_bottles / crate_size)
    empty = crates * crate_size - total_bottles
    report = ToolReport()
    needed, left = "crates" if crates > 1 else "crate", "place" if empty == 1 else "places"
    report.lines.append(
        f"{total_bottles} bottles need {crates} {needed}; {empty} {left} left empty."
    )
    report.add_claim(report.lines[0], "count_crates")
    return report.to_json()
