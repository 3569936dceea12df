"""Delays and outputs of movies, and what NPZ holds, by tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from even_pixels import pixels
from PIL import Image as Pillow

from raystream.film.files import image, movie


@pytest.mark.parametrize(("fps", "delays"), [
    (10, [100] * 6), (50, [20] * 6), (25, [40] * 6), (30, [30, 40, 30, 30, 40, 30]), (24, [40, 40, 40, 50, 40, 40]),
    (0.5, [2000] * 6),
])  # fmt: skip
def test_delays_keep_the_rate(fps: float, delays: list[int], tmp_path: Path) -> None:
    """Hundredths of a second, whose ends are rounded: in all as long as the frames."""
    frames = [np.full((4, 6, 3), 40 * k, np.uint8) for k in range(6)]
    movie.write_movie(str(tmp_path / "a.gif"), iter(frames), fps)
    with Pillow.open(tmp_path / "a.gif") as file:
        assert file.n_frames == 6 and file.info["loop"] == 0 and file.size == (6, 4)
        found = []
        for k in range(6):
            file.seek(k)
            found.append(file.info["duration"])
            assert (np.asarray(file.convert("RGB")) == 40 * k).all()
    assert found == delays


def test_metadata_of_npz_is_text(tmp_path: Path) -> None:
    image.save(tmp_path / "a.npz", pixels(1), {"triangle": np.full((3, 5), 3.0)}, {"samples": 4})  # type: ignore[dict-item]
    with np.load(tmp_path / "a.npz") as file:
        assert json.loads(str(file["metadata"])) == {"samples": "4"}
        assert file["triangle"].dtype == np.int32 and file["linear"].dtype == np.float32
