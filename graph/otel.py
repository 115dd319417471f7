"""Switches OpenTelemetry on, where the settings say so."""

from graph.settings import Settings
from nodes.tools.framework.extras import (
    PackageMissing,
    list_missing_packages,
    write_install_command,
)

EXTRA = "otel"


def start_otel(settings: Settings) -> None:
    """Send spans of this process's runs if `SUPERVISE_OTEL` is on; do nothing a second time.

    Raises:
        PackageMissing: it is on, but the packages are not installed.
    """
    if not settings.otel:
        return
    if missing := list_missing_packages(EXTRA):
        raise PackageMissing(
            f"SUPERVISE_OTEL is on, but packages are not installed: {', '.join(missing)}",
            next=write_install_command(EXTRA),
        )
    from graph.otel_export import start_export  # optional packages

    start_export()
