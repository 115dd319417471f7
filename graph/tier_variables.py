"""The variables that give one tier an endpoint, a key, headers and parameters of its own."""

from typing import Annotated, Any, Final, get_args

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode

from nodes.models.setting_values import (
    find_address_problem,
    find_key_problem,
    read_headers,
    read_parameters,
)
from nodes.models.settings import Tier, TierSettings

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

    fast_base_url: Address = Field(None, validation_alias="SUPERVISE_FAST_BASE_URL")
    fast_api_key: ApiKey = Field(None, validation_alias="SUPERVISE_FAST_API_KEY")
    fast_headers: Headers = Field({}, validation_alias="SUPERVISE_FAST_HEADERS")
    fast_parameters: Parameters = Field({}, validation_alias="SUPERVISE_FAST_PARAMETERS")
    standard_base_url: Address = Field(None, validation_alias="SUPERVISE_STANDARD_BASE_URL")
    standard_api_key: ApiKey = Field(None, validation_alias="SUPERVISE_STANDARD_API_KEY")
    standard_headers: Headers = Field({}, validation_alias="SUPERVISE_STANDARD_HEADERS")
    standard_parameters: Parameters = Field({}, validation_alias="SUPERVISE_STANDARD_PARAMETERS")
    strong_base_url: Address = Field(None, validation_alias="SUPERVISE_STRONG_BASE_URL")
    strong_api_key: ApiKey = Field(None, validation_alias="SUPERVISE_STRONG_API_KEY")
    strong_headers: Headers = Field({}, validation_alias="SUPERVISE_STRONG_HEADERS")
    strong_parameters: Parameters = Field({}, validation_alias="SUPERVISE_STRONG_PARAMETERS")

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
