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
