"""Pictures of a few pixels that were wrong: what they show is known, or is that of another way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import glsl_call
import numpy as np
import places
import pytest

import raystream
from raystream.film.film import Film
from raystream.lighting.sampler import sampler
from raystream.renderer.device import gpu_scene
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.partial_film import FilmPart, film_of_part
from raystream.scene.camera import Camera
from raystream.scene.edits.movable import with_light_at
from raystream.scene.environment import sky, studio
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.scene import Instance, Scene
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.kernel import IN, OUT, Kernel
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.declare.record import Field, Record


def test_layers_of_unlit_surfaces(device):
    """Feature layers of a scene with unlit surfaces did not compile: what is emitted towards the camera asked for a
    constant that comes with BSDFs, and these are not in that program."""
    scene = raystream.Scene.from_triangles([[-9, -9, 0], [9, -9, 0], [0, 9, 0]], [[0, 1, 2]])
    scene.materials = [Material("sign", (1.0, 0.5, 0.25, 1.0), kind="principled", unlit=True)]
    picture = raystream.render(
        scene, camera="0,0,4 0,0,0", size=8, spp=2, environment="none", layers=("depth", "albedo"), device=device
    )
    assert np.allclose(picture.linear, (1.0, 0.5, 0.25), rtol=1e-5)
    assert np.allclose(picture.layers["depth"].min(), 4, rtol=0.01)


SPP = 64
HALF = Material("half", (0.0, 0.0, 0.0, 0.3), kind="lambert", alpha_mode="blend")


# No ray goes through the edge between its triangles, of which each throws.
PLATE = places.quads([[(-9, -9, 0), (9, -9, 0), (9, 8.1, 0), (-9, 8.1, 0)]])


def shown(device: Any, scene: Any, **options: Any) -> tuple[Renderer, np.ndarray]:
    renderer = Renderer(scene, device=device, **{"machine": "singlepass", "program": "path", **options})
    return renderer, renderer.render((8, 8), SPP).linear[..., 0]


def sevenths(picture: np.ndarray) -> bool:
    """Whether every pixel is a mean of samples of chance 0.7, within 5 deviations of these."""
    return bool((np.abs(picture - 0.7) < 5 * np.sqrt(0.21 / SPP)).all()) and picture.std() > 0


@pytest.mark.parametrize("options", [{"eye_rays": "shared"}, {"pixel_filter": "point"}])
@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_eye_rays(device, options: dict[str, Any], accel: str) -> None:
    """Rays that are the same in every sample of a pixel met a partly opaque surface in all samples or in none:
    pictures by `--eye-rays shared` or `--pixel-filter point` were black and white grains, whatever the number of
    samples."""
    scene = places.alone(PLATE, HALF)
    renderer, picture = shown(device, scene, environment=(1.0, 1.0, 1.0), accel=accel, **options)
    assert sevenths(picture)
    if "eye_rays" in options:
        assert renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).mode == "rays" and any(
            "BLEND" in note for note in renderer.notes
        )


@pytest.mark.parametrize("program", ["whitted", "path"])
def test_reflected_and_shadow_rays(device, program: str) -> None:
    """A lamp without extent over a floor, behind the plate, and both in a mirror."""
    floor = PLATE + np.float32([0, 0, -1])
    materials = [HALF, places.material(1.0), places.material(1.0, kind="mirror")]
    meshes = [places.flat(PLATE, 0), places.flat(floor, 1)]
    light = Light("directional", direction=(0.0, 0.3, -1.0), intensity=(1.0, 1.0, 1.0))
    below = Camera((0, 0, -0.5), (0, 0, -1.0), up=(0, 1, 0), fov=35.0)
    common = {"environment": "none", "eye_rays": "shared", "program": program, "depth": 2}
    picture = shown(device, places.scene(meshes, materials, below, lights=[light]), **common)[1]
    assert sevenths(picture * (0.7 / (picture.mean()))) and picture.mean() > 0.1
    mirror = [places.flat(floor + np.float32([0, 0, -3]), 2), places.flat(PLATE + np.float32([0, 0, -2]), 0)]
    scene = places.scene(mirror, materials, Camera((0, 0, -3), (0, 0, -4), up=(0, 1, 0), fov=35.0))
    assert sevenths(shown(device, scene, **{**common, "environment": (1.0, 1.0, 1.0)})[1])


def test_multipass_throws_anew_for_each_sample(device) -> None:
    """What a scene has reached the source of those passes alone that read its materials: rays of the camera, which
    another pass makes, met partly opaque surfaces alike in all samples with one kernel a pass."""
    half = Material("half", (0.0, 0.0, 0.0, 0.5), kind="lambert", alpha_mode="blend")
    options: dict[str, Any] = {"program": "path", "environment": (1.0, 1.0, 1.0)}
    options |= {"pixel_filter": "point", "first_hits": "rays"}
    found = [
        Renderer(places.alone(PLATE, half), device=device, machine=machine, fuse=fuse, **options).render((8, 8), 8)
        for machine, fuse in (("singlepass", "none"), ("multipass", "none"), ("multipass", "surface"))
    ]
    assert all(np.array_equal(found[0].linear, each.linear) for each in found[1:])
    assert 0.0 < found[0].linear.mean() < 1.0


CLEAN: dict[str, Any] = {"machine": "singlepass", "pixel_filter": "point", "environment": sky(64)}
SQUARE = places.quads([[(-1, 0, -1), (-1, 0, 1), (1, 0, 1), (1, 0, -1)]])


def plate_over_floor() -> Scene:
    """Seen from above, the picture's top towards -Z."""
    plate = np.diag([0.6, 1.0, 0.6, 1.0])
    plate[1, 3] = 1.0
    mesh = places.flat(SQUARE)
    camera = Camera((0, 8, 0), (0, 0, 0), (0, 0, -1), fov=40)
    return Scene(
        [mesh], [Instance(0, np.diag([3.0, 1.0, 3.0, 1.0])), Instance(0, plate)], [places.material(1.0)], [camera]
    )


@pytest.mark.parametrize("program", ["whitted", "shadow"])
def test_nothing_is_random_under_a_sky(program, device):
    """Whitted's tracer sampled one direction of the environment for each surface: at one sample salt and pepper."""
    one, other = (Renderer(plate_over_floor(), device=device, program=program, seed=seed, **CLEAN) for seed in (1, 2))
    picture = one.render((24, 18), spp=1).linear
    assert picture.std() > 0.05 and np.array_equal(picture, other.render((24, 18), spp=1).linear)


OPTIONS: dict[str, Any] = {"machine": "singlepass", "camera": "0,1,1 0,0.3,0.3", "environment": "none"}
SHOWN: dict[str, Any] = {"size": (6, 4), "spp": 1}


def test_it_shows_its_own_light_again(device: Any) -> None:
    """A scene that had been prepared was overwritten by the next edit of whoever showed it: shown again, or by another
    renderer, it had the light of the edit."""
    scene = raystream.Scene.from_triangles([[-1, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 2]], [[0, 1, 2], [0, 1, 3]])
    scene.lights = [Light("point", "lamp", (0.0, 0.5, 0.5))]
    ready = prepare(scene, environment="none")
    renderer = Renderer(ready, device=device, **OPTIONS)
    first = renderer.render(**SHOWN).linear
    renderer.update(with_light_at(scene, "lamp", (0.0, 0.5, 0.9)))
    assert not np.array_equal(renderer.render(**SHOWN).linear, first)
    other = Renderer(ready, device=device, **OPTIONS)
    np.testing.assert_array_equal(other.render(**SHOWN).linear, first)
    renderer.update(with_light_at(scene, "lamp", (0.0, 0.5, 0.7)))
    renderer.update(replace(scene, lights=[]))  # for which other programs are compiled
    assert not renderer.render(**SHOWN).linear.any()
    renderer.update(ready)
    np.testing.assert_array_equal(renderer.render(**SHOWN).linear, first)
    renderer.release()
    other.release()


SIZE, SAMPLES = (16, 16), 16


def test_halves_are_of_half_of_the_samples() -> None:
    """A render that went on from some tiles that were done kept 'halves' that were all of their samples: its error,
    and that of all that went on from it, was several times too large."""
    renderer = raystream.Renderer("cornell", machine="singlepass", depth=2)
    whole = film_of_part(renderer, FilmPart(SIZE, SAMPLES))
    begun = Film(*SIZE)
    begun.store(whole.records(0, 0, 16, 8))  # the upper half is done
    film = film_of_part(renderer, FilmPart(SIZE, SAMPLES), begun)
    further = film_of_part(renderer, FilmPart(SIZE, 4 * SAMPLES), film)
    renderer.release()
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(film.arrays[name], array, err_msg=name)
    assert whole.halves is not None and film.halves is None
    # From there on all pixels are alike.
    assert further.halves is not None and set(further.halves.count.flat) == {2 * SAMPLES}


@pytest.mark.parametrize("machine", ["singlepass", pytest.param("multipass", marks=pytest.mark.slow)])
def test_weighing_apart_changes_nothing(device: Any, monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    """Walls of different colours, over which powers differ: the sums are the same, in the same order."""
    pictures, form = [], gpu_scene._program_form
    for apart in (False, True):
        monkeypatch.setattr(gpu_scene, "_program_form", lambda *given, apart=apart: {**form(*given), "apart": apart})
        renderer = Renderer("cornell", device=device, machine=machine, program="photon", photons=1024)
        pictures.append(renderer.render((8, 8), 1).linear)
        assert ("weigh" in renderer.program().by_name) == apart
    assert pictures[0].std() > 0.01
    np.testing.assert_array_equal(*pictures)


NUMBER = Record("Number", Field("n", "int"))
KERNELS = {
    "push": Kernel("push", (IN("given", NUMBER), OUT("kept", NUMBER)), exits=("next",)),
    "wander": Kernel("wander", (IN("given", NUMBER),), exits=("next",)),
    "pop": Kernel("pop", (IN("kept", NUMBER), OUT("found", NUMBER)), exits=("next",)),
}


def test_what_waits_while_a_ray_is_elsewhere_is_stored() -> None:
    """A pass that pushes and pops, between which the ray goes over another one, or not. (In pictures: the machines of a
    final gather agree over glass and mirrors.)"""
    for order, stored in (("push", "wander", "pop"), True), (("push", "pop", "wander"), False):
        states = [State(n, KERNELS[n], {"next": to}) for n, to in zip(order, (*order[1:], DONE), strict=True)]
        streams = dict.fromkeys(("given", "kept", "found"), NUMBER)
        program = Program(
            "waiting",
            streams,
            inputs=("given",),
            results=("found",),
            states=tuple(states),
            start="push",
            groups={"pair": (("push", "pop"),)},
            stacked=("kept",),
        )
        pair = LinkedProgram(program, []).steps("pair")[0]
        assert pair.states == ("push", "pop")
        assert ("kept" in pair.stores) is stored and ("kept" in pair.loads) is stored


def test_pixels_have_numbers_of_their_own(device: Any) -> None:
    """Of 512 x 512 pixels, in the dimensions of a photon's place and direction; some eight pairs by chance."""
    function = glsl_call.Function(
        device, "vec2 sample_2d(ivec2 p, int number, int dimension)", modules=[sampler("table")]
    )
    pixels = np.stack(np.meshgrid(*[np.arange(512)] * 2), axis=-1).reshape(-1, 2)
    drawn = [function(pixels, np.zeros(len(pixels), int), np.full(len(pixels), k))[0] for k in (2, 4)]
    assert len(np.unique(np.concatenate(drawn, axis=1), axis=0)) > 0.999 * len(pixels)


PATH = {"program": "path", "machine": "singlepass"}


def unlit() -> Scene:
    """A grey ball without any light."""
    return places.alone(places.sphere(3), places.material(0.5))


def test_the_environment_stays(device) -> None:
    """But for classic scenes, whose tiles are a part of them; a scene with a floor of its own is under the sky."""

    def name(**options) -> str:
        return Renderer(unlit(), device=device, **{**PATH, **options}).prepared.lighting.environment.name

    assert [name(), name(ground="auto"), name(ground="2x2")] == ["studio"] * 3
    assert name(environment="sky", ground="auto") == "sky"
    assert name(program="whitted", classic=True) == name(program="whitted", classic=True, ground="2x2") == "sky"
    renderer = Renderer(unlit(), device=device, **PATH)
    before = renderer.prepared.lighting.environment
    renderer.update(ground="auto")
    assert renderer.prepared.lighting.environment.pixels is studio(cove=True).pixels
    renderer.update(ground=None)
    assert renderer.prepared.lighting.environment.pixels is before.pixels
