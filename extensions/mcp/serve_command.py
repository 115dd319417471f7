"""The options of `supervise mcp`. Light: help needs them, too."""

from typing import Annotated

import typer

from graph.commands.options import (
    ApproveOption,
    AskOption,
    DeadlineOption,
    MaxCostOption,
    MaxTokensOption,
    TeamsArgument,
    VerboseOption,
    build_context,
)
from graph.commands.settings_loading import load_settings

HttpOption = Annotated[
    str | None,
    typer.Option(
        "--http",
        metavar="HOST:PORT",
        help="Serve over HTTP instead, such as 127.0.0.1:8765; others need SUPERVISE_MCP_TOKEN.",
    ),
]


def serve_mcp(
    ctx: typer.Context,
    team: TeamsArgument = None,
    http: HttpOption = None,
    deadline_s: DeadlineOption = None,
    max_cost_usd: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    approve_plan: ApproveOption = False,
    ask_human: AskOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Offer teams as tools to programs that speak MCP, over stdio or HTTP."""
    from extensions.mcp.server.serve import serve_teams

    return serve_teams(
        team or (), load_settings(announces=True), http=http, context=build_context(ctx.params)
    )
