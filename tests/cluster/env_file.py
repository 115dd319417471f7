"""Reads the files of `deploy/` that systemd and the containers read."""

from pathlib import Path
from typing import Final

from tests.cluster.environment import ROOT

CLUSTER_ENV: Final = ROOT / "deploy" / "cluster.env"


def read_env_file(path: Path = CLUSTER_ENV) -> dict[str, str]:
    """Return the variables of a file with a line `NAME=value` each."""
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name: value for name, _, value in pairs}
