"""Tools that fail, in each way that a tool can, for teams of tests."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolFailed, ToolRefused

LOCAL_ACCESS = {"reads": [], "sends": "nothing"}


@tool
def look(how: str, material: str = "") -> Any:
    """Look at something, and end as it is said."""
    match how:
        case "times out":
            raise ToolFailed("took longer than 60 s")
        case "crashes":
            raise RuntimeError("torn apart")
        case "crashes at length":
            raise ValueError("no\x1b shelf\n" + "x" * 9_000)
        case "refuses":
            raise ToolRefused("there is no such shelf; name another")
        case "does half":
            return {"summary": "Half.", "failures": ["the second half took longer than 9 s"]}
        case "talks on":
            return {"summary": "x" * 30_000}
    return {"summary": f"Looked at {material or 'all'}."}


@tool
def check_playbook(
    material: str,
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Fail as the check of contracts does when its process is ended."""
    raise ToolFailed("reading took longer than 60 s; give a shorter or cleaner text")


look.metadata = LOCAL_ACCESS
check_playbook.metadata = LOCAL_ACCESS
