"""The groups of variables: of one tier, of limits, of tracing, of a server.

A variable is named like its field, after `SUPERVISE_`, where the field names no other.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, get_args

from pydantic import AliasChoices, BeforeValidator, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode

from graph.stores.postgres_url import list_passwords
from nodes.models.settings import (
    DEFAULT_CALL_TIMEOUT_S,
    Tier,
    TierSettings,
    find_address_problem,
    find_key_problem,
    find_redis_problem,
    read_headers,
    read_origins,
    read_parameters,
)
from nodes.tools.framework.extras import PackageMissing, write_install_command

SECRET_WORDS: Final = ("auth", "key", "token", "secret", "cookie", "password")
"""In the name of a header whose value is a secret; others, such as `X-Title`, may be shown."""
TIERS: Final[tuple[Tier, ...]] = get_args(Tier)


def _check_address(url: Any) -> Any:
    if not isinstance(url, str):
        return url
    if problem := find_address_problem(url):
        raise ValueError(problem)
    return url.rstrip("/")


def _read_key(key: Any) -> Any:
    """Return the key; None when it is blank."""
    value = key.get_secret_value() if isinstance(key, SecretStr) else key
    if not isinstance(value, str):
        return key
    if problem := find_key_problem(value):
        raise ValueError(problem)
    return key if value.strip() else None


def _split_names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def read_text_by(read: Callable[[str], Any]) -> BeforeValidator:
    """Return what turns the text of a variable into its value; a value is left as it is."""
    return BeforeValidator(lambda value: read(value) if isinstance(value, str) else value)


Address = Annotated[
    str | None,
    BeforeValidator(_check_address),
    Field(description="an address such as http://localhost:11434/v1"),
]
ApiKey = Annotated[
    SecretStr | None,
    BeforeValidator(_read_key),
    Field(description="the key on one line, as its issuer shows it"),
]
Headers = Annotated[
    dict[str, str],
    NoDecode,
    BeforeValidator(read_headers),
    Field(description='a JSON object of texts such as {"X-Team": "blue"}', repr=False),
]
Switch = Annotated[bool, Field(description="true or false")]
Parameters = Annotated[
    dict[str, Any],  # the values are the endpoint's
    NoDecode,
    BeforeValidator(read_parameters),
    Field(description='a JSON object such as {"temperature": 0.2, "seed": 7}'),
]


def _is_secret(name: str, value: str) -> bool:
    return bool(value.strip()) and any(word in name.lower() for word in SECRET_WORDS)


class TierVariables(BaseSettings):
    """A tier without an address of its own uses OPENAI_BASE_URL and OPENAI_API_KEY."""

    fast_base_url: Address = None
    fast_api_key: ApiKey = None
    fast_headers: Headers = Field({})
    fast_parameters: Parameters = Field({})
    standard_base_url: Address = None
    standard_api_key: ApiKey = None
    standard_headers: Headers = Field({})
    standard_parameters: Parameters = Field({})
    strong_base_url: Address = None
    strong_api_key: ApiKey = None
    strong_headers: Headers = Field({})
    strong_parameters: Parameters = Field({})

    def build_tier_settings(self) -> dict[Tier, TierSettings]:
        """Return the endpoints of the tiers that have settings of their own."""
        own = {tier: self._build_tier(tier) for tier in TIERS}
        return {tier: settings for tier, settings in own.items() if settings != TierSettings()}

    def list_tier_secrets(self) -> tuple[str, ...]:
        """List the keys, and the values of headers that name a secret, without `Bearer`."""
        own = self.build_tier_settings().values()
        keys = [settings.api_key for settings in own if settings.api_key]
        headers = [header for settings in own for header in settings.headers.items()]
        return (*keys, *(value.split()[-1] for name, value in headers if _is_secret(name, value)))

    def _build_tier(self, tier: Tier) -> TierSettings:
        key: SecretStr | None = getattr(self, f"{tier}_api_key")
        return TierSettings(
            base_url=getattr(self, f"{tier}_base_url"),
            api_key=key.get_secret_value() if key else None,
            headers=getattr(self, f"{tier}_headers"),
            parameters=getattr(self, f"{tier}_parameters"),
        )


RatePerMinute = Annotated[
    float | None, Field(gt=0, allow_inf_nan=False, description="a number above 0")
]

DEFAULT_DEADLINE_S: Final = 900.0
REDIS_EXTRA: Final = "redis"


class LimitVariables(BaseSettings):
    """How many model calls, how often, how long, and who shares the rates."""

    max_concurrency: int = Field(16, ge=1, le=1000, description="a whole number from 1 to 1000")
    """Model calls in flight, over all workers of the process."""
    requests_per_minute: RatePerMinute = Field(None, validation_alias="SUPERVISE_RPM")
    tokens_per_minute: RatePerMinute = Field(None, validation_alias="SUPERVISE_TPM")
    redis_url: str | None = Field(
        None, description="redis://HOST:PORT/0, rediss://… or unix:///PATH", repr=False
    )
    """The Redis through which all instances share the rates."""
    instances: int = Field(1, ge=1, le=1000, description="a whole number from 1 to 1000")
    """Processes that divide the rates between them while they do not share a Redis."""
    call_timeout_s: float = Field(
        DEFAULT_CALL_TIMEOUT_S, gt=0, le=3600, description="seconds, above 0 and at most 3600"
    )
    """Total for one model call, retries and waits included; unset, a slow model has more."""

    deadline_s: float = Field(
        DEFAULT_DEADLINE_S, ge=0, le=604_800, description="seconds, at most 604800; 0 for none"
    )
    """Of a run that sets none; longer if its models answer slowly."""

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, url: str | None) -> str | None:
        if url and (problem := find_redis_problem(url)):
            raise ValueError(problem)
        return url


def require_redis_package(redis_url: str | None) -> None:
    """Load the package if it is needed.

    Raises:
        PackageMissing: `SUPERVISE_REDIS_URL` is set, but it is not installed.
    """
    if not redis_url:
        return
    try:
        import redis.asyncio  # noqa: F401 - optional, and slow: not first within a call's time
    except ImportError:
        raise PackageMissing(
            "SUPERVISE_REDIS_URL is set, but a package is not installed: redis",
            next=write_install_command(REDIS_EXTRA),
        ) from None


class TracingVariables(TierVariables):
    """Nothing is sent unless a switch is on, whatever keys and addresses are set."""

    langsmith_tracing: bool = Field(
        False, validation_alias=AliasChoices("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2")
    )
    """The only switch that sends run data to LangSmith."""
    langsmith_api_key: ApiKey = Field(
        None, validation_alias=AliasChoices("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")
    )
    langsmith_endpoint: str | None = Field(None, validation_alias="LANGSMITH_ENDPOINT")
    langsmith_project: str | None = Field(None, validation_alias="LANGSMITH_PROJECT")
    otel: Switch = False
    """The only switch that sends spans to an OpenTelemetry collector."""
    otel_endpoint: str | None = Field(None, validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    otel_headers: SecretStr | None = Field(None, validation_alias="OTEL_EXPORTER_OTLP_HEADERS")
    otel_service_name: str | None = Field(None, validation_alias="OTEL_SERVICE_NAME")
    otel_content: str | None = Field(
        None, validation_alias="OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
    )
    """Whether spans hold prompts and replies; `span_only` or unset."""

    @field_validator("langsmith_tracing", mode="before")
    @classmethod
    def _read_tracing_switch(cls, value: Any) -> bool:
        """Return the switch as LangSmith reads it: every value except `true` is off."""
        return str(value).lower() == "true"

    @field_validator("otel_endpoint")
    @classmethod
    def _check_otel_endpoint(cls, url: str | None) -> str | None:
        try:
            list_passwords(url or "")
        except ValueError:
            raise ValueError("is not a valid address") from None
        return url

    def list_tracing_variables(self) -> dict[str, str]:
        """Return the variables that the clients which are switched on read themselves."""
        langsmith = {
            "LANGSMITH_API_KEY": reveal(self.langsmith_api_key),
            "LANGSMITH_ENDPOINT": self.langsmith_endpoint,
            "LANGSMITH_PROJECT": self.langsmith_project,
        }
        otel = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.otel_endpoint,
            "OTEL_EXPORTER_OTLP_HEADERS": reveal(self.otel_headers),
            "OTEL_SERVICE_NAME": self.otel_service_name,
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": self.otel_content,
        }
        used = {**(langsmith if self.langsmith_tracing else {}), **(otel if self.otel else {})}
        return {name: value for name, value in used.items() if value}

    def list_tracing_secrets(self) -> tuple[str, ...]:
        """List LangSmith's key, and the passwords and header values for the collector."""
        passwords = list_passwords(self.otel_endpoint or "")
        key, headers = reveal(self.langsmith_api_key), reveal(self.otel_headers) or ""
        values = [pair.partition("=")[2].split() for pair in headers.split(",")]
        return (*([key] if key else ()), *passwords, *(value[-1] for value in values if value))


def reveal(secret: SecretStr | None) -> str | None:
    """Return a secret in plain words; None where there is none."""
    return secret.get_secret_value() if secret else None


UserModel = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_\-]*:\S+$")]
PositiveCount = Annotated[int, Field(ge=1, description="a whole number above 0")]


class ServerVariables(BaseSettings):
    """Who may call a server."""

    studio_origins: Annotated[tuple[str, ...], NoDecode, read_text_by(read_origins)] = Field(
        (), description="addresses such as http://localhost:3000, separated by commas"
    )
    """Origins that may call the development server, besides LangSmith's Studio."""
    server_edition: str = Field("", validation_alias="LANGGRAPH_RUNTIME_EDITION")
    server_url: str = Field("", validation_alias="LANGGRAPH_API_URL")
    """The address of LangGraph's server, which the server sets."""
    keeps_trace: Switch = Field(True, validation_alias="SUPERVISE_SERVER_TRACE")
    """Whether a server keeps the trace of its runs beside their checkpoints."""
    server_key: ApiKey = None
    """What `--url` sends."""
    server_hook: str = Field("", validation_alias="LANGGRAPH_AUTH")
    """The hook for users that LangGraph's server has loaded, which the server sets."""
    mcp_token: ApiKey = None
    """What clients of `supervise mcp --http` must send."""
    users_file: Path | None = Field(
        None, validation_alias="SUPERVISE_USERS", description="the file of a server's users"
    )
    """Whose tokens a server accepts; None: everybody may do everything."""
    user_runs: PositiveCount = 10
    """Runs of one user that may wait or be at work at once."""
    user_threads: PositiveCount = 1000
    """Threads that one user may have."""
    user_runs_per_minute: PositiveCount | None = Field(None, description="a whole number above 0")
    waiting_runs: PositiveCount = 1000
    """Runs of all users that may wait at once."""
    max_body_bytes: PositiveCount = 80_000_000
    """Of a request; the files that are attached to one may take 60 MB in base64."""
    user_models: Annotated[tuple[UserModel, ...], NoDecode, read_text_by(_split_names)] = Field(
        (), description="provider:model, several with commas"
    )
    """Models that a user may choose for a run, besides those of the tiers."""

    def build_server_headers(self) -> dict[str, str]:
        """Return the headers that `--url` sends: the key in both forms that servers read."""
        if self.server_key is None:
            return {}
        key = self.server_key.get_secret_value().strip()
        return {"authorization": f"Bearer {key}", "x-api-key": key}

    def list_server_secrets(self) -> list[str]:
        """List the values that must never be written anywhere."""
        return [key.get_secret_value() for key in (self.mcp_token, self.server_key) if key]
