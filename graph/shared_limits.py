"""What sharing the rates needs: an optional package, where the setting is used."""

from importlib.util import find_spec
from typing import Final

from nodes.tools.framework.extras import PackageMissing, write_install_command

EXTRA: Final = "redis"


def require_redis_package(redis_url: str | None) -> None:
    """Do nothing if the package is installed, or not needed.

    Raises:
        PackageMissing: `SUPERVISE_REDIS_URL` is set, but it is not installed.
    """
    if redis_url and find_spec("redis") is None:
        raise PackageMissing(
            "SUPERVISE_REDIS_URL is set, but a package is not installed: redis",
            next=write_install_command(EXTRA),
        )
