"""Packs a team into an archive: the same bytes for the same team, on every machine.

A zip without compression, since compressed bytes differ by the version of zlib: files in order, one
fixed time, plain modes. A manifest beside the team's folder has the hashes.
"""

import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from stat import S_IFREG
from typing import Final

from extensions.sharing.archive import TeamRefused, read_archive
from extensions.sharing.file_names import show_name
from extensions.sharing.lock import read_lock
from extensions.sharing.sheet import build_sheet
from extensions.sharing.sheet_text import describe_exam
from extensions.sharing.sources import MANIFEST, ExamScore, Facts, Manifest, Offer, open_offer
from graph import __version__
from graph.commands.output import print_text
from graph.display.streams import write_to_file
from graph.extensions import find_first
from graph.settings import Settings
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, find_team, load_team
from graph.user_state import get_teams_folder
from nodes.errors import UsageError
from nodes.errors.redaction import redact_text
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.tools.framework.extras import list_extras

OWN_LICENCE: Final = "MIT"  # of the shipped teams, as in `pyproject.toml`
_KEY: Final = Pattern(
    r"-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}"
    r"|\bsk-(?:ant-|proj-)?[A-Za-z0-9_\-]{32,}|\bAIza[0-9A-Za-z_\-]{35}\b"
    r"|\bxox[abprs]-[0-9A-Za-z\-]{20,}|\bglpat-[0-9A-Za-z_\-]{20}\b|\btvly-[A-Za-z0-9]{24,}"
)
"""Keys of well-known services, and private keys."""


def pack_team(
    name: str,
    settings: Settings,
    out: str = "",
    version: str = "",
    licence: str = "",
    *,
    keeps_keys: bool = False,
) -> int:
    """Write a team's archive, also with made-up keys if these are kept, and print what is in it."""
    offer = _read_team(name, settings)
    path = Path(out or f"{offer.name}.team.zip")
    if path.suffix.lower() != ".zip":
        raise UsageError(f"{show_name(str(path))} is no name of a zip", next="--out FILE.zip")
    texts = {"version": version[:200], "licence": licence[:200]}
    given = {**texts, "exam": _find_score(offer.name, settings)}
    facts = offer.facts.model_copy(update={key: each for key, each in given.items() if each})
    offer = replace(offer, facts=facts)
    sheet, data = build_sheet(offer, settings), build_archive(offer)
    if not keeps_keys:
        _require_no_keys(offer)
    write_to_file(data, path, advice="--out FILE.zip")
    said = f"{facts.version or 'no version'}, {facts.licence or 'no licence (--licence MIT)'}"
    files = format_count(len(offer.files), "file")
    print_text(f"packed {path}: {offer.name}, {said}, {files}, {len(data):,} bytes")
    print_text(f"exam: {describe_exam(sheet.exam_rows, sheet.exam)}")
    for each, reason in offer.left_out.items():
        print_text(f"left out: {show_name(each)} ({reason})")
    print_text(f"SHA-256 of the team: {sheet.sha256}")
    return 0


def _read_team(name: str, settings: Settings) -> Offer:
    """Return a team that is here, with its version and licence as far as they are known."""
    folder = find_team(name, settings).resolve()
    load_team(folder, settings)  # registers the secrets that its servers' entries hold
    offer = open_offer(str(folder))
    if folder.parent == get_teams_folder().resolve():
        known = read_lock().teams[offer.name]
        return replace(offer, facts=Facts(version=known.version, licence=known.licence))
    if folder.parent == SHIPPED_TEAMS_FOLDER:
        extras = tuple({offer.name.replace("_", "-")} & set(list_extras()))
        return replace(offer, facts=Facts(version=__version__, licence=OWN_LICENCE, extras=extras))
    return offer


def _require_no_keys(offer: Offer) -> None:
    """Raise TeamRefused if a file holds a key of the settings, or what looks like one."""
    for name, data in offer.files.items():
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if redact_text(line) != line or _KEY.search(line):
                what = f"{show_name(name)} holds what may be a key, in line {number}"
                remedy = "take it out; or pack it with --with-keys if it is made up"
                raise TeamRefused(what, kept="nothing was packed", next=remedy)


def _find_score(team: str, settings: Settings) -> ExamScore | None:
    """Return the newest kept result of a team's own exam; None without one."""
    exams = find_first(lambda each: each.open_exams())
    for kept in exams.list_kept(settings.home, team) if exams else ():
        exam, day = kept["exam"], kept["id"][:8]
        if exam and exam["team"] == team and not exam["against"]:
            facts = {"score": round(exam["score"], 1), "models": exam["models"]}
            return ExamScore(**facts, date=f"{day[:4]}-{day[4:6]}-{day[6:]}")
    return None


def build_archive(offer: Offer) -> bytes:
    """Return the archive of a team."""
    facts = offer.facts.model_dump(include=set(Facts.model_fields))
    manifest = Manifest(**facts, name=offer.name, files=offer.digests)
    files = {f"{offer.name}/{name}": data for name, data in offer.files.items()}
    files[MANIFEST] = f"{manifest.model_dump_json(indent=2)}\n".encode()
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, (S_IFREG | 0o644) << 16
            archive.writestr(entry, content)
    if read_archive(target.getvalue()) != files:
        raise TeamRefused("the archive would not hold all files as they are")
    return target.getvalue()
