"""Join pictures into an animated one.

python docs/pictures/join_frames.py FOLDER OUT

The name of each picture is the number of milliseconds after the first at which it is shown.
"""

import sys
from itertools import pairwise
from pathlib import Path
from typing import Final

from PIL import Image

LAST_SHOWN_MS: Final = 1_000


def join_frames(folder: Path, out: Path) -> None:
    """Write an animated WebP of the folder's PNG files, which repeats for ever."""
    paths = sorted(folder.glob("*.png"))
    shown_ms = [int(after.stem) - int(before.stem) for before, after in pairwise(paths)]
    first, *others = [Image.open(path).convert("RGB") for path in paths]
    first.save(
        out,
        save_all=True,
        append_images=others,
        duration=[*shown_ms, LAST_SHOWN_MS],
        loop=0,
        quality=60,
        method=6,
    )


if __name__ == "__main__":
    join_frames(Path(sys.argv[1]), Path(sys.argv[2]))
