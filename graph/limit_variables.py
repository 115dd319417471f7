"""The variables that limit model calls: of one process, and of all instances together."""

from typing import Annotated, Final

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from nodes.models.redis_address import find_redis_problem
from nodes.models.settings import DEFAULT_CALL_TIMEOUT_S

RatePerMinute = Annotated[
    float | None, Field(gt=0, allow_inf_nan=False, description="a number above 0")
]

DEFAULT_DEADLINE_S: Final = 900.0


class LimitVariables(BaseSettings):
    """How many model calls, how often, how long, and who shares the rates."""

    max_concurrency: int = Field(
        16,
        validation_alias="SUPERVISE_MAX_CONCURRENCY",
        ge=1,
        le=1000,
        description="a whole number from 1 to 1000",
    )
    """Model calls in flight, over all workers of the process."""
    requests_per_minute: RatePerMinute = Field(None, validation_alias="SUPERVISE_RPM")
    tokens_per_minute: RatePerMinute = Field(None, validation_alias="SUPERVISE_TPM")
    redis_url: str | None = Field(
        None,
        validation_alias="SUPERVISE_REDIS_URL",
        description="redis://HOST:PORT/0, rediss://… or unix:///PATH",
        repr=False,
    )
    """The Redis through which all instances share the rates."""
    instances: int = Field(
        1,
        validation_alias="SUPERVISE_INSTANCES",
        ge=1,
        le=1000,
        description="a whole number from 1 to 1000",
    )
    """Processes that divide the rates between them while they do not share a Redis."""
    call_timeout_s: float = Field(
        DEFAULT_CALL_TIMEOUT_S,
        validation_alias="SUPERVISE_CALL_TIMEOUT_S",
        gt=0,
        le=3600,
        description="seconds, above 0 and at most 3600",
    )
    """Total for one model call, retries and waits included; unset, a slow model has more."""

    deadline_s: float = Field(
        DEFAULT_DEADLINE_S,
        validation_alias="SUPERVISE_DEADLINE_S",
        ge=0,
        le=604_800,
        description="seconds, at most 604800; 0 for none",
    )
    """Of a run that sets none; longer if its models answer slowly."""

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, url: str | None) -> str | None:
        if url and (problem := find_redis_problem(url)):
            raise ValueError(problem)
        return url
