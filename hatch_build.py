"""Adds the types of `state.py` to the wheel: a single module cannot hold the marker `py.typed`."""

import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class StubsHook(BuildHookInterface):
    """Packs a copy of the module as a package of stubs, as PEP 561 asks."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the copy to the builder; a checkout that is installed as it is needs none."""
        if version == "editable":
            return
        # A source that is packed twice would be packed in its second place only.
        copy = Path(mkdtemp()) / "state.pyi"
        shutil.copyfile(Path(self.root) / "state.py", copy)
        build_data["force_include"][str(copy)] = "state-stubs/__init__.pyi"
