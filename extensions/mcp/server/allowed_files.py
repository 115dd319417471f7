"""Which files a client on this machine may name: those below its roots or the working folder."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from nodes.errors import FileUnreadable


def resolve_files(names: Iterable[str], roots: Sequence[Path]) -> list[Path]:
    """Return the paths of files, each below a root, with links followed.

    A relative path is below the first root.

    Raises:
        FileUnreadable: a path leads elsewhere, or to a hidden file.
    """
    return [_resolve_file(name, roots) for name in names]


def choose_roots(declared: Iterable[str]) -> list[Path]:
    """Return the folders whose files may be read: the client's roots, else the working folder.

    A working folder that is a home folder, or holds one, is none: some clients start their
    servers there, which no user has chosen.

    Args:
        declared: addresses that a client has sent, such as file:///home/ada/project.
    """
    named = [path for path in map(_read_root, declared) if path is not None]
    if named:
        return named
    here = Path.cwd().resolve()
    is_chosen = here != Path(here.anchor) and not Path.home().resolve().is_relative_to(here)
    return [here] if is_chosen else []


def _read_root(address: str) -> Path | None:
    parts = urlsplit(address)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = Path(unquote(parts.path)).resolve()
    return None if path == Path(path.anchor) else path


def _resolve_file(name: str, roots: Sequence[Path]) -> Path:
    if not roots:
        raise FileUnreadable(
            f"cannot read {name[:200]!r}",
            cause="the client declares no root, and the server runs in no project folder",
            next="send the text in materials, or start the server in the project's folder",
        )
    try:
        path = (roots[0] / name).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise FileUnreadable(
            f"cannot read {name[:200]!r}", cause=str(error), next="check the name"
        ) from None
    below = [path.relative_to(root) for root in roots if path.is_relative_to(root)]
    if not below or all(any(part.startswith(".") for part in each.parts) for each in below):
        where = "it is hidden" if below else "it is outside the allowed folders"
        raise FileUnreadable(
            f"cannot read {name[:200]!r}",
            cause=where,
            next=f"name a file below {' or '.join(map(str, roots))}, or send its text in materials",
        )
    return path
