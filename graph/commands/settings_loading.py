"""The settings of a command. Light: help needs it, too."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph.settings import Settings


def load_settings(*, trace_content: bool = False) -> "Settings":
    """Read the settings, and export whether LangSmith may trace runs."""
    from graph.settings import Settings

    settings = Settings()
    settings.export_tracing()
    return settings.model_copy(update={"trace_content": True}) if trace_content else settings
