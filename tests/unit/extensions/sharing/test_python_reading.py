"""What reading Python file shows of what it may do."""

import pytest

from extensions.sharing.python_reading import (
    ALL_VARIABLES,
    CLOSED,
    DYNAMIC,
    READS,
    VARIABLES,
    WRITES,
    read_python,
)

pytestmark = pytest.mark.needs("sharing")
NETWORK, PROGRAMS = "connect to the network", "start programs"

ABILITIES: dict[str, set[str]] = {
    "import json, math\nprint(json.dumps(math.pi))": set(),
    "code, signal, site = 1, 2, 3\nprint(code.real, signal, site)": set(),
    "from .helper import system\nsystem('x')": set(),
    "import socket": {NETWORK},
    "import urllib.request as r\nr.urlopen('x')": {NETWORK},
    "import urllib\nurllib.request.urlopen('x')": {NETWORK},
    "from asyncio import open_connection as o\no('x', 1)": {NETWORK},
    "import os\nos.system('x')": {PROGRAMS},
    "from os import system as print_it\nprint_it('x')": {PROGRAMS},
    "import os\nalias = os\nalias.system('x')": {PROGRAMS},
    "import os\nos.execv('x', [])": {PROGRAMS},
    "def f():\n    import subprocess": {PROGRAMS},
    "if True:\n    try:\n        import pty\n    except ImportError:\n        pass": {PROGRAMS},
    "open('x')": {READS},
    "open('x', 'w')": {WRITES},
    "open('x', mode='a')": {WRITES},
    "open('x', mode)": {WRITES},
    "open(*given)": {WRITES},
    "from pathlib import Path\nPath('x').open('w')": {WRITES},
    "from pathlib import Path\nPath('x').write_text('y')": {WRITES},
    "import shutil": {WRITES},
    "import pandas\npandas.read_csv('x')": {READS},
    "eval('1')": {DYNAMIC},
    "__builtins__.eval('1')": {DYNAMIC},
    "__import__('os')": {DYNAMIC},
    "import importlib": {DYNAMIC},
    "from pickle import loads": {DYNAMIC},
    "from math import *": {DYNAMIC},
    "import os\ncall(os)": {DYNAMIC},
    "getattr(thing, 'sys' + 'tem')": {DYNAMIC},
    "getattr(thing, '__class__')": {DYNAMIC},
    "getattr(thing, 'name', None)": set(),
    "().__class__.__base__.__subclasses__()": {DYNAMIC},
    "import os\nos.environ['A']": {VARIABLES},
    "def (": {CLOSED},
    "# coding: utf-7\nx = 1": {CLOSED},
    "x = 1\0": {CLOSED},
    "x = " + "(" * 5000: {CLOSED},
    "x = " + "-" * 50_000 + "1": {CLOSED},
    "x = a" + ".b" * 50_000: {CLOSED},
}


@pytest.mark.parametrize("source", ABILITIES, ids=range(len(ABILITIES)))
def test_what_a_file_may_do_is_read_and_not_run(source):
    assert set(read_python(source.encode()).abilities) == ABILITIES[source]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import os\nos.environ['A'], os.getenv('B'), os.environ.get('C')", ["A", "B", "C"]),
        ("from os import environ as e, getenv as g\ne['A'], g('B')", ["A", "B"]),
        ("import os\ndict(os.environ)", [ALL_VARIABLES]),
        ("import os\nos.getenv(name)", [ALL_VARIABLES]),
        ("def peel(settings):\n    return settings.variables['KEY']", ["KEY"]),
        ("def peel(settings):\n    return settings.variables", [ALL_VARIABLES]),
    ],
)
def test_environment_variables_have_their_names_where_they_are_written(source, names):
    assert read_python(source.encode()).variables == names


def test_packages_are_those_of_others():
    source = b"import re, yaml, orchards.trees\nfrom nodes.errors import ToolRefused\nimport state"

    assert read_python(source).packages == ["orchards"]


def test_the_first_line_of_each_ability_is_named():
    found = read_python(b"import json\nimport socket\nimport socket\neval('1')\n")

    assert found.abilities == {NETWORK: 2, DYNAMIC: 4}
    assert found.lines == 4
