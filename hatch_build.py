"""Packs the checkout as one importable package, `supervisor_worker`."""

import runpy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class OnePackageHook(BuildHookInterface):
    """Gives the builder what `bin/one_package.py` makes; an editable install is the checkout."""

    _folder: TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the package's folder to the builder."""
        if version == "editable":
            return
        root = Path(self.root)
        program = runpy.run_path(str(root / "bin" / "one_package.py"))
        self._folder = TemporaryDirectory()
        package = program["build_package"](root, Path(self._folder.name))
        menu = package / "graph" / "__init__.py"
        text = menu.read_text(encoding="utf-8")
        menu.write_text(text.replace("0+checkout", self.metadata.version), encoding="utf-8")
        build_data["force_include"][str(package)] = package.name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the package's folder, which the builder has packed."""
        if self._folder:
            self._folder.cleanup()
