"""Sort an incident's materials into code, logs, configuration, and prose."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from extensions.tools.logs.reader import LOG_SUFFIXES, is_log
from nodes.text.csv_table import is_table_name

PYTHON_SUFFIXES = (".py", ".pyi")
_OTHER_CODE = ".js .ts .go .java .rb .rs .c .cc .cpp .cs .php"
_CONFIGURATION = ".yaml .yml .toml .ini .cfg .conf .env .properties"
_KIND_BY_SUFFIX = {
    **dict.fromkeys((*PYTHON_SUFFIXES, *_OTHER_CODE.split()), "code"),
    **dict.fromkeys(LOG_SUFFIXES, "logs"),
    **dict.fromkeys(_CONFIGURATION.split(), "configuration"),
}


def sort_materials(materials: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Sort materials into kinds, by their names, and by their content where that is not enough."""
    matter = dict[str, dict[str, str]](code={}, logs={}, configuration={}, prose={})
    for name, text in materials.items():
        matter[detect_kind(name, text)][name] = text
    return matter


def detect_kind(name: str, text: str = "") -> str:
    """Return a material's kind: `code`, `logs`, `configuration` or `prose`."""
    path = PurePosixPath(name.lower())
    if kind := _KIND_BY_SUFFIX.get(path.suffix):
        return kind
    if path.name.startswith(".env"):
        return "configuration"
    if path.suffix == ".json":
        return "logs" if text.lstrip().startswith("[") else "configuration"
    return "logs" if is_table_name(name) or is_log(name, text) else "prose"
