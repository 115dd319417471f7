"""What sharing the rates needs: an optional package, where the setting is used."""

from typing import Final

from nodes.tools.framework.extras import PackageMissing, write_install_command

EXTRA: Final = "redis"


def require_redis_package(redis_url: str | None) -> None:
    """Load the package if it is needed.

    Raises:
        PackageMissing: `SUPERVISE_REDIS_URL` is set, but it is not installed.
    """
    if not redis_url:
        return
    try:
        import redis.asyncio  # noqa: F401 - optional, and slow: not first within a call's time
    except ImportError:
        raise PackageMissing(
            "SUPERVISE_REDIS_URL is set, but a package is not installed: redis",
            next=write_install_command(EXTRA),
        ) from None
