"""The sheet of a team: all that it asks for, worked out from its bytes without running any of it.

`asks` is what the user agrees to: texts, so that what a second version asks for beside the first
is a difference of two sets.
"""

import tempfile
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from sys import modules
from typing import Final

from extensions.sharing.archive import TeamRefused
from extensions.sharing.python_reading import PythonFile, read_python
from extensions.sharing.sources import Facts, Offer, hash_files
from graph.extensions import find_first, register_extensions
from graph.settings import Settings
from graph.teams.team_folder import NAME_PATTERN, TEAM_FILE, TOOLS_FOLDER, read_team
from graph.teams.team_loader import open_team
from nodes.errors import TeamInvalid
from nodes.errors.redaction import forget_new_secrets
from nodes.limits.patterns import Pattern
from nodes.schemas.servers import MCP_PREFIX, McpServer, matches_pattern
from nodes.schemas.team import Team, Worker
from nodes.security.tool_access import get_declared_access, list_effect_tools
from nodes.text.plain_text import to_one_line
from nodes.tools.framework.extras import list_missing_packages

KINDS: Final[Mapping[str, str]] = {
    "tools": "tool",
    "access": "access",
    "effects": "effect outside",
    "programs": "program to start",
    "addresses": "address",
    "teams": "other team",
    "python": "Python file",
    "abilities": "ability of its Python",
    "variables": "environment variable",
    "packages": "package",
}
"""Of entries of `asks`, with what one is."""
MAX_ENTRIES, MAX_ENTRY_CHARS = 1000, 300
_ADDRESS: Final = Pattern(r"(?i)\b(?:https?|wss?|ftp)://(\w[^\s/\"'`<>()\[\]{}\\|]{0,200})")
_VARIABLE: Final = Pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")
_TEXTS: Final = frozenset((".md", ".yaml", ".yml", ".json", ".py", ".txt", ".toml"))
_LABELS: Final = {"private": "your data", "untrusted": "texts of others"}
_SENT: Final = {"query": "search words", "address": "addresses"}


class Sheet(Facts):
    """What a user reads before a team is added."""

    name: str
    description: str
    source: str
    sha256: str
    files: dict[str, str]
    left_out: dict[str, str]
    workers: dict[str, str]  # with descriptions; one of an inner team begins with the outer's name
    tools: dict[str, tuple[str, ...]]
    asks: dict[str, tuple[str, ...]]
    python: dict[str, PythonFile]
    hosts: dict[str, str]  # with a file that names each
    missing: tuple[str, ...]  # packages, and extras of this program
    exam_rows: int
    notes: tuple[str, ...]


def build_sheet(offer: Offer, settings: Settings) -> Sheet:
    """Return the sheet of a team that is offered."""
    register_extensions()  # their tools may be named
    outside = set[str]()
    with tempfile.TemporaryDirectory(prefix="team-") as place:
        folder = Path(place).resolve() / offer.name
        team = _read_team(offer, folder, settings, outside)
        exams = find_first(lambda each: each.open_exams())
        exam = exams.describe(folder, [each.name for each in team.workers]) if exams else None
    asks: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
    for kind, entry in _list_asks(team):
        asks[kind][_make_plain(entry)] = None
    used = _select_used(offer.files, starts_programs=bool(asks["programs"]))
    names = [name for name in used if name.casefold().endswith(".py")]
    python = {name: read_python(used[name]) for name in names}
    asks["python"] |= dict.fromkeys(python)
    for name, file in python.items():
        asks["abilities"] |= dict.fromkeys(f"{name} may {each}" for each in file.abilities)
        asks["variables"] |= dict.fromkeys(map(_make_plain, file.variables))
        asks["packages"] |= dict.fromkeys(file.packages)
    hosts, workers = dict(_find_hosts(used, team)), list(_walk_workers(team))
    asks |= {"addresses": dict.fromkeys(sorted(hosts)), "teams": dict.fromkeys(sorted(outside))}
    if max(map(len, asks.values())) > MAX_ENTRIES:
        raise TeamRefused(f"it asks for more than {MAX_ENTRIES} things of one kind")
    missing = [each for each in asks["packages"] if not (each in modules or find_spec(each))]
    missing += [e for e in offer.facts.extras if list_missing_packages(e.replace("-", "_"))]
    return Sheet(
        **offer.facts.model_dump(include=set(Facts.model_fields)),
        name=offer.name,
        source=offer.source,
        description=to_one_line(team.description, 500),
        sha256=hash_files(offer.digests),
        files=offer.digests,
        left_out=dict(offer.left_out),
        workers={name: to_one_line(of.description) for name, of, _ in workers},
        tools={name: of.tools for name, of, _ in workers},
        asks={kind: tuple(entries) for kind, entries in asks.items()},
        python=python,
        hosts=hosts,
        missing=tuple(dict.fromkeys(missing)),
        exam_rows=exam["count"] if exam else 0,
        notes=tuple(_list_notes(offer.files)),
    )


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files below a new folder."""
    folder.mkdir(mode=0o700)
    for name, data in files.items():
        path = folder.joinpath(*name.split("/"))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)


def _read_team(offer: Offer, folder: Path, settings: Settings, outside: set[str]) -> Team:
    """Write a team into a new folder, read it, and add the names of other teams that it uses."""

    def find(name: str, nesting: Path) -> Path:
        if not NAME_PATTERN.fullmatch(name):
            raise TeamInvalid(f"{name!r:.80} is no name of a team")
        if (nesting / name).is_dir():
            return nesting / name
        outside.add(name)
        return open_team(name, settings)

    try:
        write_files(offer.files, folder)
        with forget_new_secrets():
            team, problems = read_team(folder, find)
    except (RecursionError, ValueError, OSError) as error:
        cause = getattr(error, "strerror", None) or type(error).__name__
        raise TeamRefused("its files cannot be read in a temporary folder", cause=cause) from None
    if team is None:
        text = to_one_line(str(problems[0]).replace(f"{folder.parent}/", ""), 400)
        raise TeamInvalid(text, kept="nothing of it was run", next="ask whoever made it")
    return team


def _list_asks(team: Team) -> Iterator[tuple[str, str]]:
    for name, worker, inner in _walk_workers(team):
        for tool in worker.tools:
            yield "tools", f"{tool} of {name}"
            yield "access", _describe_access(tool, inner)
            if ":" in tool and not tool.startswith(MCP_PREFIX):
                yield "packages", tool.partition(":")[0].partition(".")[0]
        if remote := worker.remote:
            sent = _describe(remote.access.reads, remote.access.sends)
            yield "access", f"{name} works elsewhere, {remote.describe()}, {sent}"
            yield from _list_variables(remote.headers.values())
        for effect in () if worker.team else list_effect_tools(worker, inner):
            yield "effects", f"{effect} of {name}"
        for server in worker.team.mcp_servers.values() if worker.team else ():
            yield from _list_server_asks(server)
    for server in team.mcp_servers.values():
        yield from _list_server_asks(server)


def _list_server_asks(server: McpServer) -> Iterator[tuple[str, str]]:
    given = [f"{name}={value}" for name, value in sorted(server.env.items())]
    program = " ".join((*given, server.command, *server.args))
    where = f", in {server.cwd}" if server.cwd else ""
    trust = ", its own hints about its tools are trusted" if server.trust else ""
    if server.command:
        yield "programs", f"{program}{where}{trust}"
    else:
        yield "access", f"{server.url} serves tools{trust}"
    yield from _list_variables(server.texts)


def _walk_workers(team: Team, above: str = "") -> Iterator[tuple[str, Worker, Team]]:
    """Yield each worker with its name and its team, those of inner teams after the one they are."""
    for worker in (*team.workers, *([team.specialist] if team.recruit or team.grant else ())):
        name = f"{above}{worker.name}"
        yield name, worker, team
        if worker.team:
            yield from _walk_workers(worker.team, f"{name}/")


def _describe_access(tool: str, team: Team) -> str:
    access, declared = get_declared_access(tool, team), team.find_declared_access(tool)
    asks = any(matches_pattern(tool, each) for each in team.approve)
    first = ", asks you first" if asks or (declared and declared.asks) else ""
    return f"{tool} {_describe(access.reads, access.sends)}{first}"


def _describe(reads: Collection[str], sends: str) -> str:
    read = " and ".join(_LABELS[each] for each in _LABELS if each in reads) or "nothing of yours"
    return f"reads {read}, sends {_SENT.get(sends, sends)}"


def _list_variables(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield from (("variables", found[1]) for text in texts for found in _VARIABLE.finditer(text))


def _select_used(files: Mapping[str, bytes], *, starts_programs: bool) -> dict[str, bytes]:
    """Return the files that models read and runs import; all, if programs may read any of them."""

    def is_used(name: str) -> bool:
        *folders, _ = name.split("/")
        is_own = not folders or TOOLS_FOLDER in folders
        return starts_programs or is_own or "/".join((*folders, TEAM_FILE)) in files

    return {name: files[name] for name in sorted(files) if is_used(name)}


def _find_hosts(files: Mapping[str, bytes], team: Team) -> Iterator[tuple[str, str]]:
    """Yield the hosts that are named in texts, each with its file."""
    for name, data in files.items():
        if PurePosixPath(name).suffix.casefold() in _TEXTS:
            for found in _ADDRESS.finditer(data.decode("utf-8", "replace")):
                yield to_one_line(found[1].rpartition("@")[2].casefold().rstrip(".,;:!?")), name
    for name, worker, _ in _walk_workers(team):
        if worker.remote:
            yield to_one_line(worker.remote.host), f"{name}.md"


def _make_plain(entry: str) -> str:
    """Return an entry as a line; a hash keeps those apart that are one when they are shown."""
    shown = to_one_line(entry, MAX_ENTRY_CHARS)
    return shown if shown == entry else f"{shown} #{sha256(entry.encode()).hexdigest()[:12]}"


def _list_notes(files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what a user should look at."""
    for name, data in files.items():
        if PurePosixPath(name).suffix.casefold() in _TEXTS:
            text = data.decode("utf-8-sig", "replace")
            others = () if text.isascii() else text
            if hidden := sum(unicodedata.category(c) in ("Cf", "Co", "Cs") for c in others):
                yield f"{name} has {hidden} characters that a reader does not see"
            if name.endswith(".md") and "<!--" in text:
                yield f"{name} has a comment (<!--) that pages do not show, and models read"
