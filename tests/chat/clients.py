"""Installs and builds the chat clients, below `build/chat`."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
BUILD: Final = HERE.parents[1] / "build" / "chat"
CHROMIUM_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")


class ClientMissing(Exception):
    """A program that the clients need is not installed."""


def find_program(*names: str) -> str:
    """Return the path of the first program that is installed.

    Raises:
        ClientMissing: none is.
    """
    for name in names:
        if found := shutil.which(name):
            return found
    raise ClientMissing(
        f"{names[0]} is not installed; install it to drive the pages and chat clients"
    )


def build_page() -> Path:
    """Build the page of this folder, and return the folder to serve."""
    _install_packages()
    served = BUILD / "page"
    served.mkdir(exist_ok=True)
    shutil.copy(HERE / "page" / "index.html", served)
    # Below the packages, where the bundler finds what the page imports.
    shutil.copy(HERE / "page" / "chat.jsx", BUILD)
    options = ("--bundle", "--minify", "--jsx=automatic", "--format=esm", "--log-level=warning")
    _run(["npx", "esbuild", "chat.jsx", *options, f"--outfile={served / 'chat.js'}"], BUILD)
    return served


def build_agent_chat_ui() -> Path:
    """Build agent-chat-ui from the source that create-agent-chat-app installs; return the folder.

    That package fixes no versions of what the page imports.
    """
    _install_packages()
    source, served = BUILD / "agent-chat-ui", BUILD / "agent-chat-page"
    if not source.exists():
        shutil.copytree(BUILD / "node_modules/create-agent-chat-app/templates/vite", source)
        _run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"], source)
    if not served.exists():
        _run(["npx", "vite", "build", "--outDir", str(served), "--logLevel", "error"], source)
    return served


def copy_drivers() -> Path:
    """Copy the scripts that drive a browser to where their packages are; return that folder."""
    for script in HERE.glob("*.mjs"):
        shutil.copy(script, BUILD)
    return BUILD


def _install_packages() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, BUILD)
    if not (BUILD / "node_modules").exists():
        _run(["npm", "ci", "--no-audit", "--no-fund"], BUILD)


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(
        [find_program(command[0]), *command[1:]], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise ClientMissing(f"{' '.join(command[:2])} failed: {' / '.join(lines[-5:])}")
