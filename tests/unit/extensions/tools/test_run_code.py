"""Code that is run: only where it is allowed, in a cell it cannot get out of, and within limits."""

import asyncio
import json
import os
import re
import socket
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from nodes.errors import ToolRefused
from nodes.tools.framework.settings import ToolSettings
from teams.research_writing_code.tools.sandbox.limits import SandboxLimits
from teams.research_writing_code.tools.sandbox.runner import (
    RunRefused,
    make_sandbox_path,
    run_python,
)
from tests.shipped_tools import load_shipped_tools

pytestmark = pytest.mark.slow

SHORT = SandboxLimits(wall_s=5, cpu_s=1)
"""For what would go on for ever."""


@cache
def find_sandbox_problem() -> str:
    """Return why no cell can be made on this machine; empty where one can."""
    try:
        asyncio.run(run_python({"a.py": ""}, "a.py", SandboxLimits()))
    except RunRefused as problem:
        return str(problem)
    return ""


@pytest.fixture(autouse=True)
def a_machine_with_cells():
    if problem := find_sandbox_problem():
        pytest.skip(problem)


async def run_text(text, bounds=SHORT, **others):
    files = {"a.py": text} | {name.replace("_", "."): held for name, held in others.items()}
    return await run_python(files, "a.py", bounds)


async def call_tool(materials, *, run_code=True, **arguments):
    (tool,) = load_shipped_tools(["run_code"], ToolSettings(run_code=run_code))
    return await tool.ainvoke({"materials": materials, **arguments})


async def test_the_output_of_the_code_is_returned():
    ending = await run_text("import sys\nprint('out')\nprint('err', file=sys.stderr)\n")

    assert (ending.stdout, ending.stderr) == ("out\n", "err\n")
    assert ending.outcome == "ran to its end, with exit code 0" and not ending.is_failure


async def test_an_error_is_reported_with_its_line_in_the_given_file():
    ending = await run_text("import b\nb.f(0)\n", b_py="def f(x):\n    return 1 / x\n")

    assert (ending.file, ending.line) == ("b.py", 2)
    assert ending.outcome == (
        "ended with exit code 1: ZeroDivisionError: division by zero, in line 2 of b.py"
    )


STOPPED = "was stopped: it used more than 1 s of processor time|was stopped after 5 s"
HOSTILE = {
    "an infinite loop": ("while True: pass", STOPPED),
    "endless sleep": ("import time\ntime.sleep(1000)", "was stopped after 5 s"),
    "a fork bomb": (
        "import os\nwhile True:\n    os.fork()",
        "BlockingIOError.*8 processes and threads at a time|" + STOPPED,
    ),
    "threads without end": (
        "from threading import Thread\nfrom time import sleep\n"
        "while True:\n    Thread(target=sleep, args=(9,)).start()",
        "can't start new thread.*8 processes and threads|" + STOPPED,
    ),
    "a memory bomb": (
        "held = []\nwhile True:\n    held.append(bytearray(10**7))",
        "MemoryError, in line 3 of a.py .a process may use 256 MB",
    ),
    "a write outside": (
        "open('/etc/passwd', 'a')",
        "OSError.*Read-only|FileNotFoundError.*writes in its own folder alone",
    ),
    "a write into Python": (
        "import os\nopen(os.__file__, 'a')",
        "(Permission denied|Read-only file system).*writes in its own folder alone",
    ),
    "a file too large": (
        "with open('b', 'wb') as file:\n    while True:\n        file.write(bytes(10**6))",
        "File too large.*a file may have 8 MB",
    ),
    "too many files": (
        "for n in range(99):\n    open(str(n), 'wb').write(bytes(10**6))",
        "No space left.*all together 16 MB",
    ),
    "the network": (
        "import socket\nsocket.create_connection(('1.1.1.1', 80), timeout=3)",
        "Address family not supported.*, in line 2 of a.py .it has no network",
    ),
    "a name on the network": (
        "import urllib.request\nurllib.request.urlopen('http://example.org', timeout=3)",
        "it has no network",
    ),
    "huge output": ("while True: print('x' * 1000)", "it printed more than 200,000 characters"),
    "a crash": ("import os\nos.kill(os.getpid(), 11)", "was ended by signal SIGSEGV"),
    "a missing library": ("import no_such_library", "the files of the request, no other packages"),
    "a question to the user": ("input('Password: ')", "EOFError.*it has no input"),
}


@pytest.mark.parametrize("deed", HOSTILE)
async def test_each_runaway_program_ends_with_one_clear_line(deed):
    text, message = HOSTILE[deed]

    ending = await run_text(text)

    assert ending.is_failure and "\n" not in ending.outcome
    assert re.search(message, ending.outcome), ending.outcome


async def test_it_sees_no_file_of_the_user_and_no_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    (tmp_path / "secret.txt").write_text("sk-secret")

    ending = await run_text(
        "import os\n"
        f"print(os.path.exists({str(tmp_path)!r}), os.path.exists('/proc'), os.getppid())\n"
        "print(sorted(os.listdir()), [name for name in os.environ if name != 'LC_CTYPE'])\n",
        data_csv="a,b\n",
    )

    assert ending.stdout == "False False 1\n['a.py', 'data.csv'] []\n"


async def test_it_reaches_no_server_of_this_machine():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ending = await run_text(
            f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 3)\n"
        )

    assert ending.is_failure and "OSError" in ending.outcome


SOCKETS = """
import ctypes, os, socket
library = ctypes.CDLL(None, use_errno=True)
number = ctypes.c_long(41 if os.uname().machine == "x86_64" else 198)
for high in (0, 1 << 32):  # the kernel reads the lower half alone
    asked = ((n, ctypes.c_ulong(high | n)) for n in range(64))
    print([n for n, family in asked if library.syscall(number, family, 1, 0) >= 0])
print([n for n in range(64) if library.socketpair(n, 1, 0, (ctypes.c_int * 2)()) == 0])
print(library.socket(socket.AF_VSOCK, 1, 0), os.strerror(ctypes.get_errno()))
one, other = socket.socketpair()
one.send(b"hello")
print(other.recv(5))
"""


async def test_it_opens_no_socket_but_between_its_own_processes():
    ending = await run_text(SOCKETS)

    unix = f"[{socket.AF_UNIX.value}]\n"
    refused = "-1 Address family not supported by protocol\n"
    assert ending.stdout == f"{3 * unix}{refused}b'hello'\n", ending.stderr


async def test_it_gets_no_privileges_and_makes_no_namespaces():
    ending = await run_text(
        "import ctypes, os\n"
        "call = ctypes.CDLL(None, use_errno=True)\n"
        "print(os.getuid(), call.unshare(0x10000000), call.mount(b'a', b'/cell', b'tmpfs', 0, 0),\n"
        "      call.shmget(0, 10**9, 0o1600), call.setuid(0))\n"
    )

    assert ending.stdout == "1000 -1 -1 -1 -1\n"


async def test_what_it_started_ends_with_it():
    ending = await run_text(
        "import os, time\n"
        "if os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n"
        "print('done')\n"
    )

    assert ending.stdout == "done\n" and ending.seconds < SHORT.wall_s


def list_processes(words):
    """Name the processes of this machine whose command holds some words."""
    found = set()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if words in Path("/proc", entry, "cmdline").read_bytes():
                found.add(entry)
    return found


async def test_a_cancelled_run_leaves_no_process():
    name = f"waits-{os.getpid()}.py"
    files = {name: "import time\ntime.sleep(1000)\n"}

    task = asyncio.create_task(run_python(files, name, SandboxLimits()))
    while not await asyncio.to_thread(list_processes, name.encode()):
        pass
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    while await asyncio.to_thread(list_processes, name.encode()):
        pass

    assert task.cancelled()


async def test_code_is_not_run_where_a_limit_cannot_be_set():
    with pytest.raises(RunRefused, match="the limits cannot be set: not allowed to raise"):
        await run_text("print('ran')", SandboxLimits(max_file_bytes=10**9))


async def test_two_files_that_would_be_one_in_the_sandbox_are_refused():
    with pytest.raises(RunRefused, match="the same name"):
        await run_python({"a.py": "", "../a.py": ""}, "a.py", SHORT)


async def test_files_that_do_not_fit_into_the_sandbox_are_refused_by_their_size():
    with pytest.raises(
        RunRefused, match=r"the files have 8.5 MB; a file may have 8 MB, and all tog"
    ):
        await run_text("print('ran')", b_txt="x" * 8_500_000)


async def test_a_user_s_own_mask_does_not_hide_the_files_from_the_code():
    before = os.umask(0o077)
    try:
        ending = await run_text("import b", b_py="print('read')")
    finally:
        os.umask(before)

    assert ending.stdout == "read\n"


async def test_a_python_that_is_reached_by_a_link_runs_code_too(tmp_path):
    python = tmp_path / "python"
    python.symlink_to(sys.base_prefix)
    result = "from teams.research_writing_code.tools.sandbox.runner import run_python as run\n"
    result += "from teams.research_writing_code.tools.sandbox.limits import SandboxLimits\n"
    result += "import asyncio\n"
    result += "print(asyncio.run(run({'a.py': 'print(1)'}, 'a.py', SandboxLimits())).stdout)\n"

    done = await asyncio.create_subprocess_exec(
        *(python / "bin" / "python3", "-c", result),
        env={"PYTHONPATH": os.pathsep.join(filter(None, [os.getcwd(), *sys.path]))},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await done.communicate()

    assert out.split() == [b"1"]


async def test_it_does_not_learn_the_machine_s_name():
    ending = await run_text("import os, socket\nprint(socket.gethostname(), os.uname().nodename)")

    assert ending.stdout == "cell cell\n"


async def test_signals_to_the_first_process_of_the_sandbox_change_nothing():
    ending = await run_text(
        "import os, signal\n"
        "for each in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):\n"
        "    try:\n        os.kill(1, each)\n"
        "    except PermissionError:\n        pass\n"
        "print('alive')\n"
    )

    assert (ending.stdout, ending.is_failure) == ("alive\n", False)


async def test_errors_of_nothing_but_empty_lines_are_read_at_once():
    ending = await run_text("import sys\nsys.stderr.write('\\n' * 190_000)\nsys.exit(3)")

    assert ending.outcome == "ended with exit code 3"


@pytest.mark.parametrize("name", ["../../etc/a.py", "/etc/a.py", "./etc/a.py"])
def test_no_name_leads_out_of_the_sandbox_folder(name):
    assert make_sandbox_path(name) == "etc/a.py"


async def test_it_is_off_until_the_user_allows_it():
    result = await call_tool({"a.py": "print(6 * 7)\n"}, run_code=False)

    assert result["summary"] == "" and result["claims"] == []
    assert result["gaps"][0].startswith("The code was not run: running code is off")


async def test_the_answer_shows_output_claims_and_the_finding():
    result = await call_tool({"a.py": "print('# six', 6)\nraise SystemExit('too few')\n"})

    assert "    # six 6" in result["summary"].splitlines()
    assert {"a.py prints: # six 6"} <= {claim["text"] for claim in result["claims"]}
    assert result["findings"][0]["message"] == "when run, it ended with exit code 1: too few"


async def test_of_several_files_the_one_that_is_named_is_run_else_the_scripts():
    main = "import b\nif __name__ == '__main__':\n    print('a', b.X)\n"
    materials = {"a.py": main, "b.py": "X = 2\n"}

    assert (await call_tool(materials))["summary"].splitlines()[0].startswith("a.py ran")
    assert (await call_tool(materials, files=["b.py"]))["summary"].startswith("b.py ran")


async def test_long_output_is_cut_and_the_cut_is_said():
    result = await call_tool({"a.py": "print('x' * 50_000)\n"})

    assert len(str(result)) < 20_000
    assert "[48000 more characters]" in result["summary"]


async def test_three_runs_that_print_much_stay_within_the_size_of_an_answer():
    noisy = "if __name__ == '__main__':\n    print(('x' * 300 + '\\n') * 99)\n    boom\n"

    result = await call_tool({f"{name}.py": noisy for name in "abcd"})

    assert len(json.dumps(result)) < 20_000 and len(result["findings"]) == 3
    assert result["gaps"] == ["Not run: d.py; name the one to run."]


async def test_without_code_it_says_what_to_give():
    with pytest.raises(ToolRefused, match="there is no Python code"):
        await call_tool({"a.md": "Text."})
