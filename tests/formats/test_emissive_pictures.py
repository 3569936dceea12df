"""Pictures of light on glTF's surfaces, which are kept where any light is left of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from looks import textured
from picture_bytes import encoded

from raystream.formats import load


@pytest.mark.parametrize(("factor", "stays"), [([1, 0.5, 0], True), ([0, 0, 0], False)])
def test_a_picture_of_several_colours_stays(factor: list[float], stays: bool, tmp_path: Path) -> None:
    """Also where a channel of the factor is zero; not where all are."""
    doc = textured()
    doc.json["images"] = [{"bufferView": doc.view(encoded(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)))}]
    doc.json["materials"][0] |= {"emissiveTexture": {"index": 0}, "emissiveFactor": factor}
    (material,) = load(doc.write(tmp_path)).materials
    assert material.emission == tuple(factor) and (material.emission_texture is not None) is stays


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (4, 2)])
def test_a_picture_of_one_colour_is_an_even_light(shape: tuple[int, int], tmp_path: Path) -> None:
    """However few texels it has; by the sRGB curve (IEC 61966-2-1)."""
    doc = textured()
    texels = np.tile(np.uint8([255, 188, 0]), (*shape, 1))
    doc.json["images"] = [{"bufferView": doc.view(encoded(texels))}]
    doc.json["materials"][0] |= {"emissiveTexture": {"index": 0}, "emissiveFactor": [0.5, 1, 1]}
    (material,) = load(doc.write(tmp_path)).materials
    assert material.emission == pytest.approx((0.5, ((188 / 255 + 0.055) / 1.055) ** 2.4, 0))
    assert material.emission_texture is None
