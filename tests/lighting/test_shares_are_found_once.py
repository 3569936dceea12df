"""How bright a texture shines on each triangle is found once for a mesh, and anew where mesh or light change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from raystream.film.film import LUMINANCE
from raystream.lighting import emitters
from raystream.scene.material import Material
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture


def test_once_for_a_mesh(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene.from_triangles(np.eye(3, dtype=np.float32), [[0, 1, 2]])
    scene.meshes[0] = replace(scene.meshes[0], uvs=np.eye(3, 2, dtype=np.float32))
    scene.textures = [Texture(Image(np.full((2, 2, 4), level, np.uint8))) for level in (255, 128)]
    scene.materials = [Material(emission=(1.0, 1.0, 1.0), emission_texture=0)]
    calls = []
    found = emitters._shares
    monkeypatch.setattr(emitters, "_shares", lambda *given: calls.append(1) or found(*given))
    (mesh,) = scene.meshes
    assert [emitters.shares(scene, mesh)[0] for _ in range(3)] == [1.0] * 3 and len(calls) == 1
    scene.materials = [replace(scene.materials[0], emission_texture=1)]
    assert emitters.shares(scene, mesh)[0] == pytest.approx(0.2158605) and len(calls) == 2  # of 128, IEC 61966-2-1
    mesh.materials = np.full(1, 0, mesh.materials.dtype)
    emitters.shares(scene, mesh)
    assert len(calls) == 3
    held = len(emitters._SHARE_CACHE)
    del mesh, scene
    assert len(emitters._SHARE_CACHE) == held - 1


@pytest.mark.parametrize("wrap", ["repeat", "mirrored", "clamp"])
def test_a_share_is_the_mean_of_the_texels_on_the_triangle(wrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against NumPy; compiled and not alike. Triangles of a corner of the image, which no smaller level is looked up
    for."""
    rng = np.random.default_rng(1)
    texels = rng.integers(0, 256, (16, 8, 4), np.uint8)
    turn = np.array([[0.8, -0.3, 0.4], [0.5, 0.9, -1.7]])
    scene = Scene.from_triangles(rng.normal(size=(60, 3)).astype(np.float32), np.arange(60).reshape(20, 3))
    uvs = (rng.normal(size=(20, 1, 2)) * 2 + rng.random((20, 3, 2)) * 0.4).astype(np.float32)
    mesh = scene.meshes[0] = replace(scene.meshes[0], uvs=uvs.reshape(-1, 2))
    scene.textures = [Texture(Image(texels), wrap=(wrap, "mirrored"), transform=turn, content="data")]
    textured = {0: (scene.textures[0], (1.0, 1.0, 1.0))}
    found = emitters._shares(mesh, textured)
    monkeypatch.setattr(emitters, "MAX_INTERPRETED", 100)
    np.testing.assert_array_equal(emitters._shares(mesh, textured), found)
    u, v = ((np.indices((8, 8)) + 0.5) / 8).reshape(2, -1)
    second, third = np.where(v > u, u / 2, u - v / 2), np.where(v > u, v - u / 2, v / 2)
    places = np.einsum("nk,tkc->tnc", np.stack([1 - second - third, second, third], 1), uvs.astype(np.float64))
    u, v = np.moveaxis(places @ turn[:, :2].T + turn[:, 2], -1, 0)
    mirrored = 1 - np.abs(np.mod([u, v], 2) - 1)
    across = {"repeat": np.mod(u, 1), "mirrored": mirrored[0], "clamp": np.clip(u, 0, 1)}[wrap]
    column, row = np.minimum((across * 8).astype(int), 7), np.minimum((mirrored[1] * 16).astype(int), 15)
    expected = (texels[row, column, :3] / 255.0) @ LUMINANCE
    np.testing.assert_allclose(found, expected.mean(axis=1), rtol=1e-6)  # of texels in float32
