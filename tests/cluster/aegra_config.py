"""The configuration that an instance of a test is given: `langgraph.json`, with fewer teams."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.cluster.environment import ROOT

SHIPPED = ROOT / "langgraph.json"


def write_config(folder: Path, teams: Collection[str]) -> Path:
    """Return a file that names only some teams, with absolute paths; that of the checkout for all.

    Args:
        teams: names of shipped teams; empty for all of them.
    """
    if not teams:
        return SHIPPED
    shipped: dict[str, Any] = json.loads(SHIPPED.read_text(encoding="utf-8"))
    graphs = {
        name: {**entry, "path": _make_absolute(entry["path"])}
        for name, entry in shipped["graphs"].items()
        if name in teams
    }
    config = {"graphs": graphs, "http": shipped["http"]}
    if auth := shipped.get("auth"):
        config["auth"] = {**auth, "path": _make_absolute(auth["path"])}
    path = folder / "aegra.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def _make_absolute(path: str) -> str:
    return f"{ROOT}/{path.removeprefix('./')}" if path.startswith("./") else path
