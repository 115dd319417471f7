"""Fixtures that `tests/conftest.py` imports."""

from collections.abc import AsyncIterator

import pytest_asyncio

from nodes.models.settings import ModelSettings
from supervisor_worker.testing.endpoint.server import Endpoint


@pytest_asyncio.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    """An endpoint in the own loop of the test; script it with `endpoint.load_scenario(…)`."""
    async with Endpoint() as served:
        yield served


@pytest_asyncio.fixture
async def model_settings(endpoint: Endpoint) -> ModelSettings:
    """Point all three tiers at the endpoint; short timeouts, one try."""
    return ModelSettings(
        fast="openai:gpt-5-mini",
        standard="openai:gpt-5-mini",
        strong="openai:gpt-5",
        base_url=endpoint.base_url,
        api_key="sk-test-0123456789abcdef",
        call_timeout_s=5.0,
        max_tries=1,
    )
