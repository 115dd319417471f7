"""Build the tools of the five lenses: they differ in name, description and rules alone."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from pydantic import Field

from extensions.tools.linting.rules import Lens
from nodes.errors import ToolRefused
from nodes.tools.framework.argument_types import FileName
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials, resolve_material_name
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_report import ToolReport, join_names

from .diff_materials import NO_REPOSITORY_GAP, is_diff, list_diffs, sort_materials

MAX_WRITTEN_BYTES = 20_000_000
TIMEOUT_S = 100.0
HOW_TO_MAKE_A_DIFF = (
    "make one with `git diff > change.diff` and attach it (on the command line: --file change.diff)"
)

Diff = Annotated[
    FileName | None, Field(description="Name of the diff to review; without it, all diffs are read")
]
Paths = Annotated[
    list[str] | None,
    Field(description="Changed files or folders to review, as the diff names them; all without it"),
]


def define_lens_tool(name: str, lens: Lens, description: str) -> Callable[[ToolSettings], BaseTool]:
    """Return the function that builds the tool of a lens."""

    def build(settings: ToolSettings) -> BaseTool:
        @tool(name, description=description)
        async def review(
            diff: Diff = None, paths: Paths = None, materials: Materials = None
        ) -> dict[str, Any]:
            return await run_review(lens, materials or {}, settings, diff=diff, paths=paths or ())

        return review

    return build


async def run_review(
    lens: Lens,
    materials: dict[str, str],
    settings: ToolSettings,
    *,
    diff: str | None = None,
    paths: Sequence[str] = (),
    timeout_s: float = TIMEOUT_S,
) -> dict[str, Any]:
    """Review diffs among the materials in a child process.

    Raises:
        ToolFailed: the review cannot be finished: not reviewed is not the same as clean.
        ToolRefused: there is no such diff, or nothing in it can be read.
    """
    diffs = _select_diffs(materials, diff)
    has_past = settings.repository is not None or sort_materials(materials, diffs).prose
    if lens == "history" and not has_past:
        return ToolReport(lines=["Not looked at."], gaps=[NO_REPOSITORY_GAP]).to_json()
    report: dict[str, Any] = await run_isolated(
        f"{__package__}.diff_review:review_diffs",
        timeout_s=timeout_s,
        max_written_bytes=MAX_WRITTEN_BYTES,
        failure=f"the {lens} lens {{}}; give a smaller diff",
        lens=lens,
        materials=materials,
        diffs=diffs,
        paths=list(paths),
        repository=str(settings.repository or ""),
    )
    return report


def _select_diffs(materials: dict[str, str], wanted: str | None) -> list[str]:
    """Return the name of the diff that is asked for, else of all; another file is no diff."""
    named = [resolve_material_name(wanted, materials)] if wanted else []
    found = [name for name in named if is_diff(materials[name])] or list_diffs(materials) or named
    if not any(is_diff(materials[name]) for name in found):
        given = f"{join_names(found or materials)} holds none" if materials else "none was given"
        raise ToolRefused(f"only unified diffs are reviewed, and {given}; {HOW_TO_MAKE_A_DIFF}")
    return found
