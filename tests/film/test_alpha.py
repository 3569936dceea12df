"""Alpha in picture files: straight in PNG and WebP, and what EXR and NPZ are multiplied by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.film.files import image
from raystream.film.files.image import MOST_WEBP, Matte, write_webp
from raystream.film.tonemap import decode, srgb8


def picture() -> tuple[np.ndarray, np.ndarray]:
    """Premultiplied radiance (H, W, 3), and alpha from 0 to 1."""
    alpha = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    color = np.random.default_rng(1).random((3, 4, 3)).astype(np.float32)
    return color * alpha[..., None], alpha


@pytest.mark.parametrize("ending", [".png", ".webp"])
def test_colours_of_eight_bits_are_straight(tmp_path: Path, ending: str) -> None:
    linear, alpha = picture()
    image.save(tmp_path / f"a{ending}", linear, matte=Matte(alpha))
    with Image.open(tmp_path / f"a{ending}") as file:
        assert file.mode == "RGBA"
        codes = np.asarray(file)
    over = np.array([0.9, 0.2, 0.4])
    share = codes[..., 3:] / 255
    found = decode(codes[..., :3] / 255) * share + (1 - share) * over
    wanted = linear + (1 - alpha[..., None]) * over
    assert np.abs(found - wanted).max() < 2 / 255  # half a code of colour, at most 1 / 100, and of alpha
    assert not codes[0, 0].any()


def test_webp_has_the_pixels_of_png_and_its_facts(tmp_path: Path) -> None:
    linear, _ = picture()
    image.save(tmp_path / "a.webp", linear, metadata={"scene": "a & b"})
    with Image.open(tmp_path / "a.webp") as file:
        assert file.mode == "RGB" and np.array_equal(np.asarray(file), srgb8(linear))
        assert b"scene: a &amp; b" in file.info["xmp"]


def test_exr_and_npz_are_premultiplied(tmp_path: Path) -> None:
    linear, alpha = picture()
    image.save(tmp_path / "a.exr", linear, matte=Matte(alpha))
    _, channels = image.read_exr(tmp_path / "a.exr")
    assert channels.keys() == {"R", "G", "B", "A"}
    assert np.array_equal(channels["A"], alpha)
    assert np.array_equal(np.stack([channels[name] for name in "RGB"], axis=-1), linear)
    image.save(tmp_path / "a.npz", linear, matte=Matte(alpha))
    with np.load(tmp_path / "a.npz") as file:
        assert np.array_equal(file["alpha"], alpha) and np.array_equal(file["linear"], linear)


def test_what_has_no_alpha_is_refused(tmp_path: Path) -> None:
    linear, alpha = picture()
    with pytest.raises(ViewerError, match="no alpha channel"):
        image.save(tmp_path / "a.jpg", linear, matte=Matte(alpha))
    assert not list(tmp_path.iterdir())
    with pytest.raises(ViewerError, match=str(MOST_WEBP)), open(tmp_path / "a.webp", "wb") as file:
        write_webp(file, np.zeros((1, MOST_WEBP + 1, 3), np.uint8), {})


def test_a_colour_behind_is_neither_exposed_nor_tone_mapped(tmp_path: Path) -> None:
    linear, alpha = picture()
    white = linear + (1 - alpha[..., None])
    matte = Matte(alpha, (1.0, 1.0, 1.0))
    image.save(tmp_path / "a.png", white, exposure=-1.0, tonemap="agx", matte=matte)
    with Image.open(tmp_path / "a.png") as file:
        codes = np.asarray(file)
    assert codes.shape == (3, 4, 3) and (codes[0, 0] == 255).all()
    assert np.array_equal(codes[-1, -1], srgb8(linear[-1, -1], -1.0, "agx"))
    share = alpha[..., None]
    front = decode(srgb8(linear / np.maximum(share, 1e-9), -1.0, "agx") / 255)
    assert np.abs(decode(codes / 255) - (front * share + 1 - share)).max() < 2 / 255
    image.save(tmp_path / "a.exr", white, matte=matte)
    _, channels = image.read_exr(tmp_path / "a.exr")
    assert channels.keys() == {"R", "G", "B"} and np.array_equal(channels["R"], white[..., 0])


def test_a_picture_is_exposed_by_what_stands_before(tmp_path: Path) -> None:
    linear, alpha = picture()
    matte = Matte(alpha, (1.0, 1.0, 1.0))
    covered = alpha > 0.5
    found = matte.metered(linear + (1 - alpha[..., None]))
    assert np.allclose(found[0], linear[covered] / alpha[covered][:, None], atol=1e-6)
    assert np.allclose(Matte(alpha).metered(linear), found, atol=1e-6)
    nothing = Matte(np.zeros_like(alpha))
    assert nothing.metered(linear) is linear
