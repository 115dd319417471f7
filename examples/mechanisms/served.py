"""An endpoint on this machine in place of a provider's; it breaks as its scenario says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory

from graph.settings import Settings
from tests.endpoint import Endpoint, Scenario

MODEL = "openai:served"


@asynccontextmanager
async def serve(scenario: Scenario, **settings: int) -> AsyncIterator[tuple[Endpoint, Settings]]:
    """Serve a scenario, and give the settings with which a run calls its one model.

    Args:
        settings: further settings, such as `max_concurrency`.
    """
    with TemporaryDirectory() as folder:
        async with Endpoint(scenario) as endpoint:
            yield (
                endpoint,
                Settings(
                    openai_base_url=endpoint.base_url,
                    openai_api_key="sk-of-the-example",
                    model_fast=MODEL,
                    model_standard=MODEL,
                    model_strong=MODEL,
                    database_url=f"sqlite:///{folder}/runs.sqlite",
                    **settings,
                ),
            )
