"""One instance of Aegra: a process that can be killed, paused and started again."""

import http.client
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

START_SCRIPT: Final = Path(__file__).parents[2] / "deploy" / "start"
START_TIMEOUT_S: Final = 90.0
END_TIMEOUT_S: Final = 60.0


class Instance:
    """A server process on a port of its own, which keeps port and log over its starts."""

    def __init__(
        self,
        name: str,
        *,
        python: Path,
        port: int,
        folder: Path,
        variables: Mapping[str, str],
        uses_script: bool = False,
    ) -> None:
        self.name, self.port, self.folder = name, port, folder
        self.variables = dict(variables)
        """What its next start finds in its environment."""
        self.log = folder / f"instance-{name}.log"
        self._python, self._uses_script = python, uses_script
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address that clients use."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The id of the process that runs the graphs."""
        return self._get_process().pid

    @property
    def is_running(self) -> bool:
        """Whether the process is there, paused or not."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process; `wait_ready` returns when it answers."""
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                self._build_command(),
                cwd=self.folder,
                env=self.variables,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def wait_ready(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Return when the instance says that it is ready.

        Raises:
            RuntimeError: the process has ended, or is not ready in time; holds its last lines.
        """
        gives_up_s = time.monotonic() + timeout_s
        while not self.is_ready():
            if not self.is_running or time.monotonic() > gives_up_s:
                raise RuntimeError(
                    f"instance {self.name} did not start:\n{self.read_log()[-4000:]}"
                )
            time.sleep(0.05)

    def is_ready(self, path: str = "/ready") -> bool:
        """Return whether it answers 200 to its question for readiness."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def kill(self) -> None:
        """End the process at once, as a crash of the machine does."""
        process = self._get_process()
        process.send_signal(signal.SIGKILL)
        process.wait(END_TIMEOUT_S)

    def terminate(self) -> None:
        """Ask the process to end, and return at once; `wait_ended` waits for it."""
        self._get_process().send_signal(signal.SIGTERM)

    def wait_ended(self, timeout_s: float = END_TIMEOUT_S) -> int:
        """Return the exit status when the process has ended.

        Raises:
            subprocess.TimeoutExpired: it has not ended in time.
        """
        return self._get_process().wait(timeout_s)

    def pause(self) -> None:
        """Stop the process without ending it (SIGSTOP)."""
        self._get_process().send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused process continue (SIGCONT)."""
        self._get_process().send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End the process, whatever its state: in order if it can, else at once."""
        if not self.is_running:
            return
        self.resume()
        self.terminate()
        try:
            self.wait_ended(10)
        except subprocess.TimeoutExpired:
            self.kill()

    def memory_bytes(self) -> int:
        """Return the memory that the process holds (resident set, bytes)."""
        for line in Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError(f"instance {self.name} has ended")

    def read_log(self) -> str:
        """Return all that the instance has written, over all its starts."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def _build_command(self) -> list[str]:
        """Return the command of `deploy/start`, or the one that it ends with."""
        if self._uses_script:
            return [str(START_SCRIPT), str(self.port)]
        command = [str(self._python), "-m", "uvicorn", "aegra_api.main:app"]
        command += ["--host", "127.0.0.1", "--port", str(self.port)]
        return [*command, "--timeout-graceful-shutdown", "5"]

    def _get_process(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            raise RuntimeError(f"instance {self.name} was never started")
        return self._process
