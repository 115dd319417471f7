"""The settings of a command. Light: help needs it, too."""

from typing import TYPE_CHECKING

from graph.variable_names import describe_unknown_name

if TYPE_CHECKING:
    from graph.settings import Settings


def load_settings(*, trace_content: bool = False) -> "Settings":
    """Read the settings, and export whether LangSmith may trace runs; warn of misspelt names."""
    from graph.settings import Settings

    settings = Settings()
    for name, near in settings.find_unknown_variables().items():
        from graph.display.stderr_console import print_to_stderr

        print_to_stderr(describe_unknown_name(name, near), style="yellow")
    settings.export_tracing()
    return settings.model_copy(update={"trace_content": True}) if trace_content else settings
