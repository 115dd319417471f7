"""A folder's `.env` that the user has trusted, and where that is recorded in tests."""

import os
from hashlib import sha256
from pathlib import Path

from graph.user_state import save_decision


def write_trusted_env(text: str, folder: Path | None = None) -> Path:
    """Write the `.env` of a folder, the current one by default, and trust it."""
    path = (folder or Path.cwd()).resolve() / ".env"
    path.write_text(text)
    save_decision(path, sha256(path.read_bytes()).hexdigest(), "trusted")
    return path


def list_user_folders() -> dict[str, str]:
    """List the variables that keep a process away from the developer's own settings."""
    return {name: os.environ[name] for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
