"""A team as it is offered: all its files in memory, from a folder, an archive or a package.

What is shown and what is installed are these bytes, whatever happens to the source meanwhile.
Nothing of the team is imported or run.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from extensions.sharing.archive import (
    MAX_ARCHIVE_BYTES,
    MAX_FILE_BYTES,
    TeamRefused,
    check_size,
    read_archive,
)
from extensions.sharing.file_names import (
    MAX_LEVELS,
    explain_left_out,
    find_clash,
    is_ignored,
    is_team_name,
    show_name,
)
from graph.teams.team_folder import NAME_RULE, TEAM_FILE
from graph.teams.team_loader import ENTRY_POINT_GROUP, list_package_folders
from nodes.errors import UsageError
from nodes.limits.nesting import parse_json

MANIFEST: Final = "manifest.json"
"""In an archive, beside the folder of the team."""
_LICENCES: Final = ("license", "licence", "copying")
Files = Mapping[str, bytes]
_ShortText = Annotated[str, Field(max_length=200)]


class ExamScore(BaseModel):
    """What the exam of a team gave, as whoever packed it says."""

    model_config = ConfigDict(allow_inf_nan=False)

    score: float = Field(ge=0, le=100)
    models: dict[str, _ShortText] = Field(default_factory=dict, max_length=10)
    date: _ShortText = ""


class Facts(BaseModel):
    """What whoever made a team says of it."""

    version: _ShortText = ""
    licence: _ShortText = ""
    extras: tuple[_ShortText, ...] = Field((), max_length=50)
    """Of this program, which it needs."""
    exam: ExamScore | None = None


class Manifest(Facts):
    """What an archive says of its team; name and files are checked."""

    format: Literal[1] = 1
    name: str
    files: dict[str, str]  # with the SHA-256 of each


@dataclass(frozen=True)
class Offer:
    """A team that may be added or packed."""

    name: str
    source: str
    files: Files
    left_out: Mapping[str, str]  # other files of its folder, and why
    folder: Path | None  # None for an archive
    facts: Facts

    @property
    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of each file."""
        return {name: sha256(data).hexdigest() for name, data in sorted(self.files.items())}


def hash_files(digests: Mapping[str, str]) -> str:
    """Return one SHA-256 for the names and hashes of all files."""
    lines = (f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    return sha256("".join(lines).encode()).hexdigest()


def open_offer(source: str) -> Offer:
    """Return the team that a folder, an archive, or an installed package brings."""
    path = Path(source).expanduser()
    try:
        if path.is_dir():
            return _read_folder(path.resolve())
        if path.exists():
            return _read_team_archive(path)
        if offer := _read_package(source):
            return offer
    except TeamRefused as error:
        what, kept = f"{show_name(source)} is refused: {error.what}", "nothing of it was run"
        remedy = error.next or "ask whoever made it for one made by supervise pack-team"
        raise TeamRefused(what, cause=error.cause, kept=kept, next=remedy) from None
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or "it is no path"
        raise TeamRefused(f"{show_name(source)} cannot be read", cause=cause) from None
    remedy = "supervise add-team FOLDER, FILE.zip, or the name of an installed package"
    raise UsageError(f"there is no folder, archive or package {show_name(source)}", next=remedy)


def _read_folder(folder: Path) -> Offer:
    """Return the team of a folder, of which no link is followed."""
    files, left_out = dict[str, bytes](), dict[str, str]()
    for path, name in walk_files(folder):
        if reason := explain_left_out(PurePosixPath(name)):
            left_out[name] = reason
            continue
        files[name] = read_regular_file(path, MAX_FILE_BYTES)
        check_size(name, len(files[name]), sum(map(len, files.values())), len(files))
    if clash := find_clash(files):
        raise TeamRefused(clash)
    return _make_offer(folder.name, str(folder), files, left_out, folder)


def walk_files(folder: Path, above: str = "") -> Iterator[tuple[Path, str]]:
    """Yield each file below a folder with its name; a folder that is ignored as one."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda each: each.name)
    if above.count("/") > 2 * MAX_LEVELS:
        raise TeamRefused("its folders are nested too deeply")
    for entry in found:
        name = f"{above}{entry.name}"
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and not is_ignored(PurePosixPath(name)):
            yield from walk_files(Path(entry.path), f"{name}/")
        else:
            yield Path(entry.path), f"{name}/" if is_folder else name


def read_regular_file(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a file that is no link, no device and not too large."""
    flags = sum(getattr(os, f"O_{name}", 0) for name in ("NOFOLLOW", "NONBLOCK", "BINARY"))
    if path.is_symlink():
        raise TeamRefused(f"{show_name(path.name)} is a link")
    with open(os.open(path, os.O_RDONLY | flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise TeamRefused(f"{show_name(path.name)} is not a regular file")
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise TeamRefused(f"{show_name(path.name)} has more than {max_bytes:,} bytes")
    return data


def _make_offer(
    name: str, source: str, files: Files, left_out: Mapping[str, str], folder: Path | None
) -> Offer:
    if TEAM_FILE not in files:
        raise TeamRefused(f"it has no {TEAM_FILE}, so it is no team")
    if not is_team_name(name):
        raise TeamRefused(f"its folder is named {show_name(name)}: {NAME_RULE}")
    texts = (data for each, data in files.items() if each.casefold().partition(".")[0] in _LICENCES)
    line = next(texts, b"")[:2000].decode("utf-8", "replace").strip().partition("\n")[0]
    return Offer(name, source, files, left_out, folder, Facts(licence=line[:200]))


def _read_team_archive(path: Path) -> Offer:
    """Return the team of an archive, all files of which must be such as `pack-team` packs."""
    files = read_archive(read_regular_file(path.resolve(), MAX_ARCHIVE_BYTES))
    stated = files.pop(MANIFEST, None)
    name = path.name.partition(".")[0]  # where no folder is around it, as some programs pack
    if TEAM_FILE not in files:
        name = min(files, default="").partition("/")[0]
        if not all(each.startswith(f"{name}/") for each in files):
            raise TeamRefused(f"it is not one folder with a {TEAM_FILE}")
        files = {each.removeprefix(f"{name}/"): data for each, data in files.items()}
    for each in files:
        if reason := explain_left_out(PurePosixPath(each)):
            raise TeamRefused(f"it holds {show_name(each)}, which is no part of a team: {reason}")
    offer = _make_offer(name, str(path.resolve()), files, {}, None)
    return offer if stated is None else _apply_manifest(offer, stated)


def _apply_manifest(offer: Offer, stated: bytes) -> Offer:
    try:
        manifest = Manifest.model_validate(parse_json(stated))
    except ValueError:
        raise TeamRefused(f"its {MANIFEST} is damaged, or of a newer version") from None
    wrong = dict(manifest.files.items() ^ offer.digests.items())
    if wrong or manifest.name != offer.name:
        what = show_name(min(wrong)) if wrong else "its name"
        raise TeamRefused(f"its {MANIFEST} is wrong about {what}", next="get the archive again")
    licence = manifest.licence or offer.facts.licence
    return replace(offer, facts=manifest.model_copy(update={"licence": licence}))


def _read_package(name: str) -> Offer | None:
    """Return the team of an installed package, by its own name or the package's."""
    points = entry_points(group=ENTRY_POINT_GROUP)
    found = [each for each in points if each.name == name]
    found = found or [each for each in points if each.dist and each.dist.name == name]
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise TeamRefused(f"it brings several teams: {names}", next="name one of them")
    folders = [folder for each in found for folder in list_package_folders(each.value)]
    folder = next((each for each in folders if (each / TEAM_FILE).is_file()), None)
    if folder is None or (package := found[0].dist) is None:
        return None
    offer, known = _read_folder(folder.resolve()), package.metadata
    named = [str(known[each]) for each in ("License-Expression", "License") if each in known]
    licence = (named[0] if named else offer.facts.licence).partition("\n")[0][:200]
    source = f"package {package.name} {package.version}"
    return replace(offer, source=source, facts=Facts(version=package.version, licence=licence))
