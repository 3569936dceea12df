"""Khronos's models beside reference pictures by Cycles, by blocks of 20 x 20 pixels: tools/gltf_sheet.py tells how they
are compared, and which blocks differ for a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gltf_sheet
import pytest

SPP = 4
# Each with whether it is seen under lights that tell roughness and normals, in place of white surroundings.
QUICK = [("BoxTextured", False), ("TextureSettingsTest", False), ("VertexColorTest", False), ("Suzanne", True)]
OTHERS = [
    ("AlphaBlendModeTest", False),
    ("AttenuationTest", False),
    ("EmissiveStrengthTest", False),
    ("GlassVaseFlowers", False),
    ("NegativeScaleTest", False),
    ("SimpleInstancing", False),
    ("TransmissionTest", False),
    ("ClearCoatTest", True),
    ("MetalRoughSpheresNoTextures", True),
    ("NormalTangentTest", True),
]


@pytest.mark.parametrize(("name", "lobes"), [*QUICK, *(pytest.param(*each, marks=pytest.mark.slow) for each in OTHERS)])
def test_blocks_are_the_references(
    device: Any, gltf_references: Path, shared_scenes: Path, monkeypatch: pytest.MonkeyPatch, name: str, lobes: bool
) -> None:
    """Of 192 numbers one in two lies beyond three standard errors by chance."""
    monkeypatch.setattr(gltf_sheet, "REFERENCES", gltf_references)
    monkeypatch.setattr(gltf_sheet, "MODELS", shared_scenes / "models")
    found = gltf_sheet.compare(name, gltf_sheet.render(name, SPP, lobes, "path", "shown"), lobes)
    assert found["unexpected"] <= 1 and found["agree"] > 0.85
    assert 0.97 * found["low"] < found["mean"] < 1.03 * found["high"]
