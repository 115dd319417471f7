"""The application's settings and team in every run: no limit of its own slows it down."""

from pathlib import Path

from graph.settings import Settings
from nodes.schemas.team import Team
from tests.benchmarks.performance.floor import MODEL
from tests.teams import make_team

MAX_CONCURRENCY = 1000
"""Model calls in flight: the most that the settings allow."""


def build_settings(base_url: str, folder: Path, postgres_url: str) -> Settings:
    """Build settings with all models at an endpoint, untouched by the environment's `.env`."""
    return Settings(
        _env_file=None,
        openai_base_url=base_url,
        openai_api_key="sk-benchmark",
        max_concurrency=MAX_CONCURRENCY,
        database_url=postgres_url or f"sqlite:///{folder / 'runs.sqlite'}",
        model_fast=f"openai:{MODEL}",
        model_standard=f"openai:{MODEL}",
        model_strong=f"openai:{MODEL}",
    )


def build_team() -> Team:
    """Build a team of workers without tools, with the highest caps."""
    return make_team(max_tasks=1000, max_steps=5000, max_depth=100)
