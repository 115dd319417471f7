"""Settings and variables of runs whose models are at an endpoint simulator."""

import os
from pathlib import Path
from typing import Any

from graph.settings import Settings

ROOT = Path(__file__).parents[2]
MODELS = {
    "model_fast": "openai:gpt-5-mini",
    "model_standard": "openai:gpt-5-mini",
    "model_strong": "openai:gpt-5",
}


def build_settings(folder: Path, base_url: str = "", **more: Any) -> Settings:
    """Return settings with a database in a folder, untouched by the environment's `.env`.

    Args:
        base_url: of the endpoint; without one no model is called.
    """
    return Settings(
        **{
            "_env_file": None,
            "openai_base_url": base_url or "http://127.0.0.1:1/v1",
            "openai_api_key": "sk-benchmark-0123456789",
            **MODELS,
            "database_url": f"sqlite:///{folder / 'runs.sqlite'}",
            "langsmith_tracing": False,
            **more,
        }
    )


def build_variables(folder: Path, base_url: str, database_url: str) -> dict[str, str]:
    """Return the environment of a process that runs this checkout in a folder of its own."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "OPENAI_BASE_URL": base_url,
        "OPENAI_API_KEY": "sk-benchmark-0123456789",
        "LANGSMITH_TRACING": "false",
        "SUPERVISE_DATABASE_URL": database_url,
        **{f"SUPERVISE_{tier.upper()}": model for tier, model in MODELS.items()},
    }
