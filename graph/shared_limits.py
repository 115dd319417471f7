"""What sharing the rates needs: optional packages, where the setting is used."""

from typing import Final

from nodes.tools.framework.extras import (
    PackageMissing,
    list_missing_packages,
    write_install_command,
)

EXTRA: Final = "redis"


def require_redis_packages(redis_url: str | None) -> None:
    """Do nothing if the packages are installed, or not needed.

    Raises:
        PackageMissing: `SUPERVISE_REDIS_URL` is set, but they are not installed.
    """
    if redis_url and (missing := list_missing_packages(EXTRA)):
        raise PackageMissing(
            f"SUPERVISE_REDIS_URL is set, but packages are not installed: {', '.join(missing)}",
            next=write_install_command(EXTRA),
        )
