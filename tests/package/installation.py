"""A wheel of this checkout, installed beside the packages that the tests run with."""

import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HANG_S = 200.0
"""A guard against a process that never ends, and no measure."""


@dataclass(frozen=True)
class Installation:
    """An environment that has the wheel, and links to all other packages."""

    folder: Path

    @property
    def packages(self) -> Path:
        """The folder of its packages."""
        return next(self.folder.glob("lib/python3.*/site-packages"))

    def run(
        self, *command: str, folder: Path, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one of its programs in a folder."""
        return subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=folder,
            env={"PATH": os.defpath, "HOME": str(folder), "COLUMNS": "200", **environment},
            capture_output=True,
            text=True,
            timeout=HANG_S,
            check=False,
        )


def build_distributions(folder: Path) -> dict[str, bytes]:
    """Build the sdist and the wheel into a folder and return their bytes by name."""
    command = [str(ROOT / "bin" / "package"), str(folder)]
    environment = {**os.environ, "PYTHON": sys.executable}
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=HANG_S)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def install_wheel(wheels: Path, folder: Path) -> Installation:
    """Make an environment and install the wheel from a folder: nothing is downloaded."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    made = Installation(folder)
    present = sysconfig.get_path("purelib")
    # A path file is read in a folder of packages only: that of the checkout counts no more.
    (made.packages / "present.pth").write_text(f"{present}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "install", "-q", "--no-index"]
    wanted = ["--find-links", str(wheels), "supervisor-worker[market-analysis]"]
    subprocess.run([*pip, *wanted], check=True, timeout=HANG_S)
    return made


def copy_tests(folder: Path, *tests: str) -> list[str]:
    """Copy tests, with the names of the package in them; return the paths of those named."""
    program = runpy.run_path(str(ROOT / "bin" / "one_package.py"))
    known = set(program["list_modules"](ROOT))
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for path in (folder / "tests").rglob("*.py"):
        path.write_text(program["move_source"](path.read_text("utf-8"), known), "utf-8")
    return [str(folder / "tests" / each) for each in tests]
