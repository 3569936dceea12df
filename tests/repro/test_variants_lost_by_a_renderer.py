"""A scene in one of its variants lost it on its way into a renderer, which showed the file's own look."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import raystream
from raystream import Renderer, Scene
from raystream.formats.objects import scene_of
from raystream.options.declare import Affects
from raystream.scene.material import Material


@pytest.fixture(scope="module")
def plain() -> Scene:
    """A triangle that one variant paints red."""
    scene = Scene.from_triangles([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    materials = [*scene.materials, Material("red", (1.0, 0.0, 0.0, 1.0))]
    return replace(scene, materials=materials, variants={"warm": {0: 1}})


def test_a_scene_is_taken_as_it_is(plain: Scene) -> None:
    warm = plain.with_variant("warm")
    assert scene_of(warm) is raystream.load(warm) is warm
    assert scene_of(plain, variant="warm").variant == scene_of(warm, variant=0).variant == "warm"


def test_a_renderer_shows_it(plain: Scene, device: Any) -> None:
    def shown() -> tuple[str | None, str]:
        scene = renderer.scene
        return scene.variant, scene.materials[scene.flatten().materials[0]].name

    renderer = Renderer(plain.with_variant("warm"), program="cast", device=device)
    assert shown() == ("warm", "red")
    renderer.update(plain)
    assert shown() == (None, plain.materials[0].name)
    assert renderer.update(plain.with_variant("warm")) != Affects.NOTHING
    assert shown() == ("warm", "red")
    renderer.update(plain, variant="warm")
    assert shown() == ("warm", "red")
    renderer.release()
