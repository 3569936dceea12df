"""Lines that ``info`` and ``devices`` make from data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from raystream.cli import report
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture

DEVICE: dict[str, Any] = {
    "index": 0,
    "default": True,
    "software": True,
    "renderer": "llvmpipe",
    "vendor": "Mesa",
    "version": "4.5",
    "glsl": "4.50",
    **dict.fromkeys(report.LIMITS, 16384),
    **dict.fromkeys(report.ABILITIES, False),
}


def test_devices_with_what_they_lack_and_why_one_is_none() -> None:
    other = {**DEVICE, "index": None, "default": False, "software": False, **dict.fromkeys(report.ABILITIES, True)}
    lines = list(report.device_lines([DEVICE, other, {"index": 2, "default": False, "error": "no float textures"}]))
    assert lines[0] == "0  llvmpipe (default, software)" and lines[7] == "-  llvmpipe"
    assert lines[1] == "   vendor  Mesa" and lines[4].startswith("   limits  texture 16,384, buffer texture 16,384, ")
    assert lines[5:7] == ["   has     nothing beyond 3.3", f"   lacks   {', '.join(report.ABILITIES.values())}"]
    assert lines[12:14] == [f"   has     {', '.join(report.ABILITIES.values())}", "   lacks   nothing"]
    assert lines[14:] == ["2  not usable: no float textures"]


def test_what_json_cannot_hold() -> None:
    given = {1: np.float32(0.5), "path": Path("a/b"), "set": {2}, "nan": np.nan, "array": np.eye(2), "other": 1j}
    found = json.loads(json.dumps(report.json_value(given)))
    expected = {"1": 0.5, "path": str(Path("a/b")), "set": [2], "nan": None, "array": [[1, 0], [0, 1]], "other": "1j"}
    assert found == expected


def test_an_image_that_textures_share_counts_once(monkeypatch) -> None:
    scene = Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    shared, own = Image(np.zeros((4, 8, 4), np.uint8), "shared"), Image(np.zeros((2, 2, 4), np.uint8), "own")
    scene.textures = [Texture(shared), Texture(shared, nearest=True), Texture(own)]
    monkeypatch.setattr("raystream.renderer.renderer.Renderer.info", lambda renderer: {})
    told = report.describe(scene, "cast")
    assert told["texture_bytes"] == 4 * 8 * 4 + 2 * 2 * 4
    assert [each["bytes"] for each in told["textures"]] == [128, 128, 16]


def test_a_projection_is_told_in_place_of_the_field_of_view() -> None:
    camera = {"name": "top", "camera": "0,1,0 0,0,0", "fov": 40.0, "aperture": 0.0, "focus": 1.0}
    assert report._camera(camera) == "top: '0,1,0 0,0,0', 40 degrees, pinhole"
    assert report._camera({**camera, "projection": "orthographic 2.0"}) == "top: '0,1,0 0,0,0', orthographic 2.0"
    assert report._camera({**camera, "aperture": 0.5}).endswith(", 40 degrees, lens of radius 0.5, sharp at 1")
