"""Build tools whose words and arguments are those of the function that does their work."""

from collections.abc import Awaitable, Callable
from inspect import cleandoc, signature
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import create_model

from nodes.tools.framework.isolation import TIMEOUT_S, run_isolated
from nodes.tools.framework.materials import Materials


def derive_tool(
    name: str,
    run: Callable[..., Awaitable[Any]],
    work: Callable[..., Any],
    **other: tuple[Any, Any] | None,
) -> BaseTool:
    """Build a tool; its description is the docstring of `work`, up to what it raises.

    Args:
        run: what a call runs.
        work: its parameters are the tool's.
        other: types and defaults of parameters beside these, or in their place; None for one that
            the tool does not have.
    """
    own = {
        each.name: (each.annotation, ... if each.default is each.empty else each.default)
        for each in signature(work).parameters.values()
    }
    fields: dict[str, Any] = {n: field for n, field in {**other, **own, **other}.items() if field}
    return StructuredTool.from_function(
        coroutine=run,
        name=name,
        description=cleandoc(work.__doc__ or "").partition("\n\nRaises:")[0],
        args_schema=create_model(name, **fields),
    )


def build_isolated_tool(
    name: str,
    work: Callable[..., Any],
    *,
    timeout_s: float = TIMEOUT_S,
    max_written_bytes: int = 0,
    failure: str = "{}",
    **given: Any,
) -> BaseTool:
    """Build a tool that runs a function on the task's materials, in a child process.

    Args:
        failure: as `run_isolated` takes it.
        given: arguments of the function that are not the caller's.
    """

    async def run(materials: Materials = None, **asked: Any) -> Any:
        return await run_isolated(
            f"{work.__module__}:{work.__name__}",
            timeout_s=timeout_s,
            max_written_bytes=max_written_bytes,
            failure=failure,
            materials=dict(materials or {}),
            **asked,
            **given,
        )

    return derive_tool(name, run, work, materials=(Materials, None), **dict.fromkeys(given))
