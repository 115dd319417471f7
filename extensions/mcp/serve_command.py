"""The options of `supervise mcp`. Light: help needs them, too."""

from dataclasses import dataclass

from graph.commands.options import (
    APPROVE,
    ASK,
    Budgets,
    TeamsArgument,
    VerboseOption,
    build_context,
    option,
    take_options,
)
from graph.commands.settings_loading import load_settings


@dataclass(frozen=True, kw_only=True)
class _Served:
    team: TeamsArgument = None
    http: str | None = option(
        "--http",
        "HOST:PORT",
        "Serve over HTTP instead, such as 127.0.0.1:8765; others need SUPERVISE_MCP_TOKEN.",
    )


@dataclass(frozen=True, kw_only=True)
class ServeOptions(Budgets, _Served):
    """The options of `supervise mcp`."""

    approve_plan: bool = APPROVE
    ask_human: bool = ASK
    verbose: VerboseOption = False


@take_options(ServeOptions)
def serve_mcp(options: ServeOptions) -> int:
    """Offer teams as tools to programs that speak MCP, over stdio or HTTP."""
    from extensions.mcp.server.serve import serve_teams

    context, settings = build_context(vars(options)), load_settings(announces=True)
    return serve_teams(options.team or (), settings, http=options.http, context=context)
