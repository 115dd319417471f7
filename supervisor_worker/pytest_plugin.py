"""Fixtures of pytest, in every project that has the package: an endpoint, and settings for it.

Its libraries are imported by the tests that use one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from graph.settings import Settings
    from supervisor_worker.testing.endpoint import Endpoint

MODEL = "openai:gpt-5-mini"


@pytest.fixture
def model_endpoint() -> "Iterator[Endpoint]":
    """An endpoint that plays a language model; script it with `load_scenario(Scenario(...))`."""
    from supervisor_worker.testing.endpoint import Endpoint

    with Endpoint().run_in_thread() as endpoint:
        yield endpoint


@pytest.fixture
def supervisor_settings(model_endpoint: "Endpoint", tmp_path: Path) -> "Settings":
    """Settings of which nothing is the developer's: the endpoint's models, runs of this test."""
    from graph.settings import Settings

    return Settings(
        openai_base_url=model_endpoint.base_url,
        openai_api_key="sk-test",
        model_fast=MODEL,
        model_standard=MODEL,
        model_strong=MODEL,
        database_url=f"sqlite:///{tmp_path}/runs.sqlite",
    )
