"""The picture of the examples: ``python tools/examples/sheet.py [--size N] [--out FILE.jpg]``.

Every example runs in a process of its own and an empty folder; their pictures lie in two rows of five.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COLUMNS, GAP = 5, 6


def main() -> None:
    """Run them all, and write the sheet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=240, help="edge of an example's picture, pixels")
    parser.add_argument("--spp", type=int, help="samples of a pixel, in place of each example's own")
    parser.add_argument("--out", default=str(ROOT / "assets" / "pictures" / "examples.jpg"))
    options = parser.parse_args()
    environment = {**os.environ, "EXAMPLE_SIZE": str(options.size)}
    if options.spp is not None:
        environment["EXAMPLE_SPP"] = str(options.spp)
    tiles = []
    with tempfile.TemporaryDirectory() as folder:
        for script in sorted(HERE.glob("[0-9]*.py")):
            print(script.name, flush=True)
            subprocess.run([sys.executable, script], cwd=folder, env=environment, check=True)
            with Image.open(Path(folder, f"{script.stem}.png")) as picture:
                tiles.append(np.asarray(picture.convert("RGB").resize((options.size, options.size))))
    edge = np.full((options.size, GAP, 3), 255, np.uint8)
    rows = [
        np.hstack([part for tile in tiles[first : first + COLUMNS] for part in (tile, edge)][:-1])
        for first in range(0, len(tiles), COLUMNS)
    ]
    gap = np.full((GAP, rows[0].shape[1], 3), 255, np.uint8)
    sheet = np.vstack([part for row in rows for part in (row, gap)][:-1])
    Image.fromarray(sheet).save(options.out, quality=90)


if __name__ == "__main__":
    main()
