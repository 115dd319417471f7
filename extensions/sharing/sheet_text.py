"""A sheet as lines, and what a second version asks for beside the first."""

from collections.abc import Iterator, Sequence

from extensions.sharing.lock import Consent
from extensions.sharing.python_reading import UNREADABLE
from extensions.sharing.sheet import KINDS, Sheet
from extensions.sharing.sources import ExamScore
from nodes.text.counts import format_count, join_names
from nodes.text.plain_text import to_one_line
from nodes.tools.framework.extras import explain_missing_module, list_extras


def list_sheet_lines(sheet: Sheet) -> Iterator[str]:
    """Yield the whole sheet."""
    files = format_count(len(sheet.files), "file")
    yield f"{sheet.name}: {sheet.description}"
    yield f"  {_describe_version(sheet)}, {files}"
    yield f"  from {to_one_line(sheet.source, 300)}"
    asks, lines = sheet.asks, sum(each.lines for each in sheet.python.values())
    code = f"{format_count(len(sheet.python), 'file')}, {format_count(lines, 'line')}"
    held = {name: ", ".join(tools) or "no tools" for name, tools in sheet.tools.items()}
    sections = {
        "Workers": [f"{name} ({held[name]}): {text}" for name, text in sheet.workers.items()],
        "What its tools read and send, as they declare": _group_access(asks["access"]),
        "What may change something outside": asks["effects"],
        "Programs that it starts": asks["programs"],
        "Addresses in its instructions and code": [
            f"{host} (in {sheet.hosts[host]})" for host in asks["addresses"]
        ],
        "Other teams that it uses": asks["teams"],
        f"Python that it brings ({code}), which was read and not run": _describe_python(sheet),
        "Environment variables that it reads": asks["variables"],
        "Packages that it imports": asks["packages"],
    }
    for heading, entries in sections.items():
        yield from _list_section(heading, entries)
    kinds = ", ".join(f"no {name}" for kind, name in KINDS.items() if not asks[kind])
    yield from (f"\nThere is {kinds}.",) if kinds else ()
    yield from _list_end(sheet)


def list_difference_lines(before: Consent, sheet: Sheet) -> Iterator[str]:
    """Yield what differs from what was agreed to, and nothing else."""
    yield f"{sheet.name}: another version of a team that you have added"
    yield f"  {_describe_version(sheet)}, before: {_describe_version(before)}"
    yield f"  from {to_one_line(sheet.source, 300)}"
    yield from _list_section("Files", list_changed_files(before, sheet))
    more, less = list_more(before, sheet), list_more(sheet, before)
    yield from _list_section("It asks for MORE than you agreed to", more)
    yield from _list_section("It no longer asks for", less)
    yield from () if more else ("\nIt asks for nothing more than you agreed to.",)
    yield from _list_end(sheet)


def list_more(before: Consent | Sheet, after: Consent | Sheet) -> list[str]:
    """Return what a version asks for that another one does not, a line each."""
    more = [
        f"{KINDS[kind]}: {entry}"
        for kind in KINDS
        for entry in after.asks.get(kind, ())
        if entry not in before.asks.get(kind, ())
    ]
    for name, file in after.python.items() if isinstance(after, Sheet) else ():
        is_changed = before.files.get(name, after.files[name]) != after.files[name]
        if is_changed and not UNREADABLE.isdisjoint(file.abilities):
            more.append(f"changed code of which reading does not show what it does: {name}")
    return more


def list_changed_files(before: Consent, sheet: Sheet) -> list[str]:
    """Return each file that is new, gone or changed, a line each."""
    old, new = before.files, sheet.files
    kinds = {(True, True): "changed", (True, False): "gone", (False, True): "new"}
    names = sorted(dict(old.items() ^ new.items()))
    return [f"{name}: {kinds[name in old, name in new]}" for name in names]


def describe_exam(rows: int, stated: ExamScore | None) -> str:
    """Return how many questions an exam has, and what whoever packed it says of its result."""
    counted = format_count(rows, "row") if rows else "none"
    if stated is None:
        return f"{counted}, no result"
    models = ", ".join(dict.fromkeys(stated.models.values())) or "no model named"
    said = f"{stated.score:.0f} % with {models} on {stated.date}, says whoever packed it"
    return to_one_line(f"{counted}; {said}", 300)


def _describe_version(of: Sheet | Consent) -> str:
    version, licence = of.version or "no version", of.licence or "no licence"
    return to_one_line(f"{version}, {licence}", 200)


def _list_section(heading: str, entries: Sequence[str]) -> Iterator[str]:
    yield from (f"\n{heading}", *(f"  {each}" for each in entries)) if entries else ()


def _group_access(entries: Sequence[str]) -> list[str]:
    groups = dict[str, list[str]]()
    for name, _, access in (entry.partition(" ") for entry in entries):
        groups.setdefault(access, []).append(name)
    return [f"{', '.join(names)}: {access}" for access, names in groups.items()]


def _describe_python(sheet: Sheet) -> list[str]:
    found = {name: each.abilities.items() for name, each in sheet.python.items()}
    shown = {
        name: ", ".join(f"{may} (line {at})" for may, at in each) for name, each in found.items()
    }
    quiet = [name for name, may in shown.items() if not may]
    lines = [f"{name} may {may}" for name, may in shown.items() if may]
    return lines + [f"nothing of note in {join_names(quiet, 4)}"] * bool(quiet)


def _list_end(sheet: Sheet) -> Iterator[str]:
    yield f"\nExam: {describe_exam(sheet.exam_rows, sheet.exam)}"
    for name in sheet.missing:
        hint = explain_missing_module(f"No module named '{name}'")
        hint = f"supervise install {name}" if name in list_extras() else hint
        yield f"Not installed here: {name}{f'; {hint}' if hint else ''}"
    if sheet.left_out:
        yield f"Left out: {join_names(map(to_one_line, sheet.left_out), 8)}"
    yield from (f"Look at this: {to_one_line(note, 200)}" for note in sheet.notes)
    yield f"SHA-256: {sheet.sha256}"
