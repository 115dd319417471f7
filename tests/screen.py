"""The command line in this process, and what it wrote."""

import pytest

from graph.cli import main


def run_supervise(*arguments: str) -> int:
    """Run a command, and return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


class CapturedScreen:
    """Calls the command line and keeps what it wrote."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *arguments: str) -> int:
        code = run_supervise(*arguments)
        self.out, self.err = self._capsys.readouterr()
        assert "Traceback" not in self.out + self.err
        return code


@pytest.fixture
def supervise(capsys: pytest.CaptureFixture[str]) -> CapturedScreen:
    """The command line, to be called with its words."""
    return CapturedScreen(capsys)
