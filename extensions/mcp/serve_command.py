"""The options of `supervise mcp`. Light: help needs them, too."""

from typing import Annotated

import typer

from graph.commands.options import (
    ApproveOption,
    AskOption,
    DeadlineOption,
    MaxCostOption,
    MaxTokensOption,
    VerboseOption,
    build_context,
)
from graph.commands.settings_loading import load_settings

TeamArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEAM...", help="Teams' names, or their folders [default: all]."),
]


def serve_mcp(
    ctx: typer.Context,
    team: TeamArguments = None,
    deadline_s: DeadlineOption = None,
    max_cost_usd: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    approve_plan: ApproveOption = False,
    ask_human: AskOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Offer teams as tools to programs that speak MCP, over stdio."""
    from extensions.mcp.server.serve import serve_teams

    return serve_teams(team or (), load_settings(announces=True), context=build_context(ctx.params))
