"""How bright a texture shines on each triangle is found once for a mesh, and anew where mesh or light change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from viewer.lighting import shining
from viewer.scene.material import Material
from viewer.scene.scene import Scene
from viewer.scene.texture import Image, Texture


def test_once_for_a_mesh(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene.from_triangles(np.eye(3, dtype=np.float32), [[0, 1, 2]])
    scene.meshes[0] = replace(scene.meshes[0], uvs=np.eye(3, 2, dtype=np.float32))
    scene.textures = [Texture(Image(np.full((2, 2, 4), level, np.uint8))) for level in (255, 128)]
    scene.materials = [Material(emission=(1.0, 1.0, 1.0), emission_texture=0)]
    calls = []
    found = shining._shares
    monkeypatch.setattr(shining, "_shares", lambda *given: calls.append(1) or found(*given))
    (mesh,) = scene.meshes
    assert [shining.shares(scene, mesh)[0] for _ in range(3)] == [1.0] * 3 and len(calls) == 1
    scene.materials = [replace(scene.materials[0], emission_texture=1)]
    assert shining.shares(scene, mesh)[0] == pytest.approx(0.2158605) and len(calls) == 2  # of 128, IEC 61966-2-1
    mesh.materials = np.full(1, 0, mesh.materials.dtype)
    shining.shares(scene, mesh)
    assert len(calls) == 3
    held = len(shining._HELD)
    del mesh, scene
    assert len(shining._HELD) == held - 1
