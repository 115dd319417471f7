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
    keeps_trace: bool = Field(True, validation_alias="SUPERVISE_SERVER_TRACE")
    """Whether a server keeps the trace of its runs beside their checkpoints."""
    server_key: ApiKey = Field(None, validation_alias="SUPERVISE_SERVER_KEY")
    """What `--url` sends."""
    mcp_token: ApiKey = Field(None, validation_alias="SUPERVISE_MCP_TOKEN")
    """What clients of `supervise mcp --http` must send."""

    def build_server_headers(self) -> dict[str, str]:
        """Return the headers that `--url` sends: the key in both forms that servers read."""
        if self.server_key is None:
            return {}
        key = self.server_key.get_secret_value().strip()
        return {"authorization": f"Bearer {key}", "x-api-key": key}

    def list_server_secrets(self) -> list[str]:
        """List the values that must never be written anywhere."""
        return [key.get_secret_value() for key in (self.mcp_token, self.server_key) if key]
