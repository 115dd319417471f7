"""The variables of the servers: Studio's, and the one that serves teams to MCP clients."""

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, NoDecode

from graph.tier_variables import ApiKey


class ServerVariables(BaseSettings):
    """Who may call a server."""

    studio_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        validation_alias="SUPERVISE_STUDIO_ORIGINS",
        description="addresses such as http://localhost:3000, separated by commas",
    )
    """Origins that may call the development server, besides LangSmith's Studio."""
    server_edition: str = Field("", validation_alias="LANGGRAPH_RUNTIME_EDITION")
    server_url: str = Field("", validation_alias="LANGGRAPH_API_URL")
    """The address of LangGraph's server, which the server sets."""
    mcp_token: ApiKey = Field(None, validation_alias="SUPERVISE_MCP_TOKEN")
    """What clients of `supervise mcp --http` must send."""
