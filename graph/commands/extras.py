"""`supervise install`: adds the packages of an extra to this environment, and keeps them there."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from graph.settings import Settings

KEPT_PACKAGES: Final = "extras.txt"
"""In a checkout: requirements that each set-up installs beside its lock file, one a line."""


def install(
    extra: Annotated[str, typer.Argument(help="Such as anthropic, google, bedrock, mistral.")],
) -> int:
    """Install an extra: the client of a model's provider, or what a team's tools need."""
    from graph.display.streams import print_to_stdout
    from nodes.errors import UsageError
    from nodes.tools.framework.extras import list_extras, list_requirements

    name = extra.strip().replace("-", "_")
    requirements = [str(each) for each in list_requirements(name)]
    if not requirements:
        raise UsageError(
            f"there is no extra {extra!r}", next=f"use one of {', '.join(list_extras())}"
        )
    command = [*_find_installer(), *requirements]
    try:
        ended = subprocess.run(command, stdout=sys.stderr, check=False).returncode
    except OSError as error:
        raise UsageError("the packages could not be installed", cause=str(error)) from None
    if ended:
        raise UsageError(
            f"the packages could not be installed: {command[0]} ended with {ended}, see above",
            next="check the network and the index, then run this again",
        )
    kept = _keep(requirements)
    print_to_stdout(f"installed: {', '.join(requirements)}{kept}")
    return 0


def describe_unused_key(settings: "Settings") -> str:
    """Return what a provider's key lacks to be used; empty where a model is set or no key is."""
    from graph.settings import EMBEDDED
    from nodes.models.settings import PROVIDERS, find_unused_key

    names = {settings.resolve_model(tier) for tier in ("fast", "standard", "strong")}
    key, extra = find_unused_key(settings.sources.variables)
    if not key or names != {EMBEDDED}:
        return ""
    provider = PROVIDERS[extra]
    first = "" if find_spec(provider.module) else f"supervise install {extra}, then "
    model = f"{extra}:{provider.example}"
    return (
        f"{key} is set, but no model is. next: {first}set SUPERVISE_MODEL_FAST, _STANDARD and "
        f"_STRONG, such as {model}"
    )


def _find_installer() -> list[str]:
    """Return the start of the command that installs into this environment."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]


def _keep(requirements: list[str]) -> str:
    """Keep packages over the next set-up of a checkout; return what to say of it."""
    from nodes.tools.framework.tool_packages import PROJECT_ROOT

    if Path(sys.prefix).resolve() != (PROJECT_ROOT / ".venv").resolve():
        return ""
    file, mark = PROJECT_ROOT / KEPT_PACKAGES, PROJECT_ROOT / ".venv" / ".locked"
    before = file.read_bytes() if file.exists() else b""
    lines = dict.fromkeys(
        line for line in [*before.decode().split("\n"), *requirements] if line.strip()
    )
    after = ("\n".join(lines) + "\n").encode()
    file.write_bytes(after)
    for lock in ("requirements.lock", "requirements-dev.lock"):
        listed = (PROJECT_ROOT / lock).read_bytes()
        if mark.exists() and mark.read_text("utf-8").strip() == _sum(listed + before):
            mark.write_text(f"{_sum(listed + after)}\n", "utf-8")
            break
    return f"; {KEPT_PACKAGES} keeps them for the next set-up, beside what the lock file pins"


def _sum(content: bytes) -> str:
    """Return what `bin/environment` writes of a set-up's files."""
    ended = subprocess.run(["cksum"], input=content, capture_output=True, check=False)
    return ended.stdout.decode().strip()
