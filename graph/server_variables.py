"""The variables of the servers: Studio's, those with users, and the one for MCP clients."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode

from graph.tier_variables import ApiKey

UserModel = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_\-]*:\S+$")]
PositiveCount = Annotated[int, Field(ge=1, description="a whole number above 0")]


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
    keeps_trace: bool = Field(
        True, validation_alias="SUPERVISE_SERVER_TRACE", description="true or false"
    )
    """Whether a server keeps the trace of its runs beside their checkpoints."""
    server_key: ApiKey = Field(None, validation_alias="SUPERVISE_SERVER_KEY")
    """What `--url` sends."""
    server_hook: str = Field("", validation_alias="LANGGRAPH_AUTH")
    """The hook for users that LangGraph's server has loaded, which the server sets."""
    mcp_token: ApiKey = Field(None, validation_alias="SUPERVISE_MCP_TOKEN")
    """What clients of `supervise mcp --http` must send."""
    users_file: Path | None = Field(
        None, validation_alias="SUPERVISE_USERS", description="the file of a server's users"
    )
    """Whose tokens a server accepts; None: everybody may do everything."""
    user_runs: PositiveCount = Field(10, validation_alias="SUPERVISE_USER_RUNS")
    """Runs of one user that may wait or be at work at once."""
    user_threads: PositiveCount = Field(1000, validation_alias="SUPERVISE_USER_THREADS")
    """Threads that one user may have."""
    user_runs_per_minute: PositiveCount | None = Field(
        None,
        validation_alias="SUPERVISE_USER_RUNS_PER_MINUTE",
        description="a whole number above 0",
    )
    waiting_runs: PositiveCount = Field(1000, validation_alias="SUPERVISE_WAITING_RUNS")
    """Runs of all users that may wait at once."""
    max_body_bytes: PositiveCount = Field(80_000_000, validation_alias="SUPERVISE_MAX_BODY_BYTES")
    """Of a request; the files that are attached to one may take 60 MB in base64."""
    user_models: Annotated[tuple[UserModel, ...], NoDecode] = Field(
        (),
        validation_alias="SUPERVISE_USER_MODELS",
        description="provider:model, several with commas",
    )
    """Models that a user may choose for a run, besides those of the tiers."""

    @field_validator("user_models", mode="before")
    @classmethod
    def _split_models(cls, value: Any) -> Any:
        return (
            [v.strip() for v in value.split(",") if v.strip()] if isinstance(value, str) else value
        )

    def build_server_headers(self) -> dict[str, str]:
        """Return the headers that `--url` sends: the key in both forms that servers read."""
        if self.server_key is None:
            return {}
        key = self.server_key.get_secret_value().strip()
        return {"authorization": f"Bearer {key}", "x-api-key": key}

    def list_server_secrets(self) -> list[str]:
        """List the values that must never be written anywhere."""
        return [key.get_secret_value() for key in (self.mcp_token, self.server_key) if key]
