"""The names by which logs call their levels, fields and libraries."""

from pathlib import Path
from typing import Any, Final

import yaml

NAMES: Final[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)
