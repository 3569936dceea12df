"""Other light on the same scene: the picture of a renderer made for it, and nothing left behind on the device."""

from __future__ import annotations

import numpy as np
import places
import pytest
from pictures import of_two_kinds

from raystream.cli.shader_check import everything
from raystream.renderer.renderer import Renderer
from raystream.scene.edits.movable import with_light_at
from raystream.scene.environment import ConstantEnvironment, ImageEnvironment, sky
from raystream.stream.compile.memories import texels_of
from raystream.stream.gl.resources import MIN_ARENA_TEXELS

SHOWN = {"size": (24, 16), "spp": 2}
WHITE = ConstantEnvironment((1.0, 1.0, 1.0))


@pytest.fixture
def renderer(device):
    made = Renderer(of_two_kinds(everything()), environment="sky", device=device, machine="singlepass")
    made.render(**SHOWN)
    yield made
    made.release()


def is_as_made_anew(renderer, environment) -> bool:
    """Whether its picture has the bits of another renderer's, of the same scene in that environment."""
    other = Renderer(
        renderer.scene, environment=environment, camera=renderer.camera, device=renderer.device, machine="singlepass"
    )
    pictures = [each.render(**SHOWN).linear for each in (renderer, other)]
    other.release()
    return np.array_equal(*pictures)


def held_there(renderer) -> tuple[int, int, int]:
    """Memories on the device, the texels of those in the arena, and the bytes of the others' textures.

    The arena itself has room for twice as many at most: how it has grown decides.
    """
    arena, parts = renderer.gpu_scene.resources.arena, renderer.gpu_scene.resources.bytes()
    tables = arena.tables()
    texels = sum(map(texels_of, tables))
    assert 16 * texels <= parts.pop("arena") <= 16 * max(MIN_ARENA_TEXELS, 2 * texels)
    return len(parts) + len(tables), texels, sum(parts.values())


def test_another_environment_takes_the_place_of_the_one_before(renderer) -> None:
    held, texels, size = held_there(renderer)
    for _ in range(2):
        renderer.update(environment=WHITE)
        assert is_as_made_anew(renderer, WHITE)
        fewer, less, _ = held_there(renderer)
        assert fewer < held and less < texels
        renderer.update(environment=sky())
        assert is_as_made_anew(renderer, "sky")
        assert held_there(renderer) == (held, texels, size)


def test_the_sun_moves_and_another_scene_has_another_default(renderer) -> None:
    renderer.update(sun=(20, -30))
    assert is_as_made_anew(renderer, sky(sun=(20, -30)))
    unlit = places.alone(places.sphere(2), places.material(0.5))
    renderer.update(unlit, environment=None, sun=None)
    found = [renderer.prepared.lighting.environment.name]
    assert "default studio" in renderer.notes[0]
    floor = places.quads(np.array([[[-2, 0, 2], [2, 0, 2], [2, 0, -2], [-2, 0, -2]]], float))
    standing = [places.flat(floor), places.flat(places.sphere(2) + np.array([0, 1, 0]))]
    renderer.update(places.scene(standing, [places.material(0.5)]))
    found.append(renderer.prepared.lighting.environment.name)
    assert found == ["studio", "sky"] and "default sky" in renderer.notes[0]


def test_lights_that_move_leave_everything_else_as_it_is(renderer) -> None:
    """Also where the environment has been turned, or was exchanged for another one, before."""
    kept = {module.name: module for module in renderer.prepared.modules(lit=True)}
    for place, environment in (((1, 2, 3), sky()), ((-1, 2, 3), sky().rotated(40)), ((0, 2, 1), None)):
        if environment is None:
            environment = ImageEnvironment(2 * sky(256).pixels, "bright")
            renderer.update(environment=environment, environment_rotation=0.0)
        else:
            renderer.update(environment_rotation=environment.rotation)
        renderer.update(with_light_at(renderer.scene, renderer.scene.lights[0].name, place))
        assert is_as_made_anew(renderer, environment)
        now = {module.name: module for module in renderer.prepared.modules(lit=True)}
        assert all(now[name] is kept[name] for name in ("textures", "watertight", "flat geometry"))
