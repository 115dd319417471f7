"""`bin/`, in a checkout that has no environment yet: what is installed, and what is shown."""

import base64
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
HANG_S = 300.0
"""A guard against an installer that never ends, and no measure."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="bin/ is for shells of Unix"),
]


@pytest.fixture
def installer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("install", ROOT / "bin" / "install.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Checkout:
    """A checkout with the real `bin/`, and lock files of packages that lie beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = ""
        shutil.copytree(ROOT / "bin", folder / "bin")
        (folder / "graph").mkdir()
        (folder / "graph" / "cli.py").write_text("import first\ndef start(): print(first.NAME)\n")
        one, two = _wheel(folder, "first", "second[extra]>=1"), _wheel(folder, "third")
        self.lock("requirements.lock", one)
        self.lock("requirements-dev.lock", one, two)

    def lock(self, name: str, *lines: str) -> None:
        (self.folder / name).write_text("".join(lines))

    def run(self, *command: str) -> int:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={
                "PATH": os.defpath,
                "HOME": str(self.folder),
                "PYTHON": sys.executable,
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(self.folder),
            },
            capture_output=True,
            text=True,
            timeout=HANG_S,
            check=False,
        )
        self.said = done.stdout + done.stderr
        return done.returncode

    def set_up(self, lock: str) -> int:
        return self.run("sh", "-euc", f"root=$PWD; lock={lock}; . bin/environment")

    def installed(self, name: str) -> Path | None:
        return next(self.folder.glob(f".venv/lib/python3.*/site-packages/{name}.py"), None)


def _wheel(folder: Path, name: str, needs: str = "") -> str:
    """Make a wheel and return its line of a lock file."""
    info, path = f"{name}-1.0.dist-info", folder / f"{name}-1.0-py3-none-any.whl"
    files = {
        f"{name}.py": f"NAME = {name!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        + (f"Requires-Dist: {needs}\n" if needs else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},sha256={_digest(text)},{len(text)}\n" for file, text in files.items())
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            wheel.writestr(file, text)
    return f"{name}==1.0 \\\n    --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_lock_alone_is_installed_and_the_second_command_adds_what_it_lacks(
    checkout: Checkout,
) -> None:
    assert checkout.run("bin/supervise") == 0
    assert "Making" in checkout.said and ".venv" in checkout.said and "done in" in checkout.said
    assert "first\n" in checkout.said
    first = checkout.installed("first")
    assert first and not checkout.installed("third")
    first.write_text("NAME = 'as it was'\n")

    assert checkout.set_up("requirements-dev.lock") == 0
    assert "Adding" in checkout.said
    assert checkout.installed("third")
    assert first.read_text() == "NAME = 'as it was'\n"

    assert checkout.set_up("requirements.lock") == 0
    assert checkout.said == ""


def test_what_cannot_be_installed_is_reported_and_an_interrupted_one_is_redone(
    checkout: Checkout,
) -> None:
    lock = (checkout.folder / "requirements.lock").read_text()
    checkout.lock("requirements.lock", lock.replace("==1.0", "==2.0"))

    assert checkout.set_up("requirements.lock") == 2
    assert "No matching distribution found for first==2.0" in checkout.said
    assert checkout.said.splitlines()[-1].startswith("error[SETUP] ")
    left = checkout.folder / ".venv" / "left"
    left.touch()

    checkout.lock("requirements.lock", lock)
    assert checkout.set_up("requirements.lock") == 0
    assert checkout.installed("first") and not left.exists()


PIP = """\
Looking in links: /somewhere
Ignoring colorama: markers 'sys_platform == "win32"' don't match your environment
Requirement already satisfied: first==1.0 in ./lib (from -r requirements.lock (line 1)) (1.0)
Collecting third==1.0 (from -r requirements.lock (line 3))
  Downloading third-1.0-py3-none-any.whl (1.9 MB)
""".splitlines()


def test_progress_counts_what_pip_collects_and_then_what_is_installed(
    installer: ModuleType,
) -> None:
    progress = installer.Progress(total=4)
    assert progress.describe(0) == "collecting packages"

    for line in PIP:
        progress.read(line)
    assert progress.describe(1) == "collecting: 2 of 3 packages"

    progress.read("Installing collected packages: third")
    assert progress.describe(2) == "installing: 2 of 3 packages"
    # pip and setuptools of the environment itself may not be among those that are listed.
    assert progress.describe(5) == "installing: 3 of 3 packages"


def test_progress_takes_the_number_of_packages_from_uv(installer: ModuleType) -> None:
    progress = installer.Progress(total=4)

    progress.read("Resolved 3 packages in 731ms")
    assert progress.describe(0) == "collecting packages"

    progress.read("Prepared 3 packages in 2.37s")
    assert progress.describe(1) == "installing: 1 of 3 packages"


def test_studio_serves_the_checkout_before_a_module_of_the_same_name(checkout: Checkout) -> None:
    assert checkout.set_up("requirements-dev.lock") == 0
    (checkout.folder / "graph" / "__init__.py").touch()
    other = checkout.folder / "other"
    other.mkdir()
    (other / "graph.py").write_text("raise SystemExit('the wrong one')")
    server = checkout.folder / ".venv" / "bin" / "langgraph"
    server.write_text(
        '#!/bin/sh\nexec "${0%/*}/python" -P -c "from graph.cli import start; start()"\n'
    )
    server.chmod(0o755)

    code = checkout.run("env", f"PYTHONPATH={other}", "bin/studio")

    assert (code, checkout.said) == (0, "first\n")
