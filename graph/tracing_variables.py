"""The variables that switch tracing on, and say where traces are sent."""

from typing import Annotated, Any

from pydantic import AliasChoices, Field, SecretStr, field_validator

from graph.stores.postgres_url import list_passwords
from graph.tier_variables import ApiKey, TierVariables


class TracingVariables(TierVariables):
    """Nothing is sent unless a switch is on, whatever keys and addresses are set."""

    langsmith_tracing: bool = Field(
        False,
        validation_alias=AliasChoices("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"),
    )
    """The only switch that sends run data to LangSmith."""
    langsmith_api_key: ApiKey = Field(
        None, validation_alias=AliasChoices("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")
    )
    langsmith_endpoint: str | None = Field(None, validation_alias="LANGSMITH_ENDPOINT")
    langsmith_project: str | None = Field(None, validation_alias="LANGSMITH_PROJECT")
    otel: Annotated[bool, Field(description="true or false")] = Field(
        False, validation_alias="SUPERVISE_OTEL"
    )
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
            "LANGSMITH_API_KEY": _reveal(self.langsmith_api_key),
            "LANGSMITH_ENDPOINT": self.langsmith_endpoint,
            "LANGSMITH_PROJECT": self.langsmith_project,
        }
        otel = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.otel_endpoint,
            "OTEL_EXPORTER_OTLP_HEADERS": _reveal(self.otel_headers),
            "OTEL_SERVICE_NAME": self.otel_service_name,
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": self.otel_content,
        }
        used = {**(langsmith if self.langsmith_tracing else {}), **(otel if self.otel else {})}
        return {name: value for name, value in used.items() if value}

    def list_tracing_secrets(self) -> tuple[str, ...]:
        """List LangSmith's key, and the passwords and header values for the collector."""
        passwords = list_passwords(self.otel_endpoint or "")
        key, headers = _reveal(self.langsmith_api_key), _reveal(self.otel_headers) or ""
        values = [pair.partition("=")[2].split() for pair in headers.split(",")]
        return (*([key] if key else ()), *passwords, *(value[-1] for value in values if value))


def _reveal(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
