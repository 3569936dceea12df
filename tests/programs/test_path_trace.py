"""Path tracing: the same bits however it runs; moving mirrors; awkward scenes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import places
import pytest

from raystream import Camera, Renderer, Scene, ViewerError
from raystream.film.device_film import FilmBuffer
from raystream.film.film import Film
from raystream.renderer.sampling.sampler import FramePlan, Tiling
from raystream.scene.environment import ImageEnvironment
from raystream.scene.light import Light
from raystream.scene.scene import Instance

SIZE, SAMPLES = (29, 22), 3
SINGLE = {"machine": "singlepass"}


def render(scene: Scene, size: tuple[int, int] = SIZE, spp: int = SAMPLES, **options: Any) -> Film:
    """Under an uneven sky, unless the options name another."""
    return places.film(scene, size, spp, **{"depth": 4, "environment": spread(), **options})


def everything() -> Scene:
    """A box, open in front, with a ball of each kind of material, an area lamp and a point light."""
    kinds = [
        places.material(0.6),
        places.material(0.9, kind="mirror"),
        places.material(1.0, kind="dielectric"),
        places.material(0.4, kind="phong", specular=0.5, exponent=30.0),
        places.material(0.5, shines=6.0),
    ]
    sides = places.box(inwards=True).reshape(6, 2, 3, 3)[:5].reshape(-1, 3, 3)
    lamp = places.quads(np.array([[[-0.4, 0.95, -0.4], [0.4, 0.95, -0.4], [0.4, 0.95, 0.4], [-0.4, 0.95, 0.4]]]))
    meshes = [places.flat(sides, name="walls"), places.flat(lamp, 4, name="lamp")]
    for number, at in enumerate(((-0.5, -0.5, 0.2), (0.5, -0.5, 0.2), (0.0, 0.3, -0.3)), 1):
        meshes.append(places.flat(places.sphere(1) * 0.4 + np.float32(at), number))
    point = Light("point", "point", (0.7, 0.7, 0.7), intensity=(0.5, 0.4, 0.3))
    return places.scene(meshes, kinds, Camera((0, 0, 3.2), (0, 0, 0)), lights=[point])


def spread() -> ImageEnvironment:
    rng = np.random.default_rng(5)
    return ImageEnvironment(rng.uniform(0.0, 0.6, (8, 16, 3)).astype(np.float32))


def assert_same(one: Film, other: Film) -> None:
    """Sum, compensation, second moment and count, bit for bit."""
    for name, array in one.arrays.items():
        assert array.tobytes() == other.arrays[name].tobytes(), name


@pytest.fixture(scope="module")
def scene() -> Scene:
    return everything()


@pytest.fixture(scope="module")
def expected(device, scene: Scene) -> Film:
    film = render(scene, **SINGLE)
    assert (film.count == SAMPLES).all() and np.isfinite(film.sum).all() and (film.mean().mean(axis=(0, 1)) > 0.2).all()
    return film


# -- bits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"fuse": "surface"},
        {"fuse": "surface", "unroll": 1, "mask": "tiles"},
        {"fuse": "surface", "unroll": 3, "mask": "none"},
        {"fuse": "surface", "unroll": 2, "barrier": "off", "count": "census"},
        {"fuse": "ray"},
        {"fuse": "ray", "count": "census", "mask": "stencil"},
        {"fuse": "none"},
        {"fuse": "none", "count": "census", "mask": "kill"},
        {"fuse": "none", "policy": "threshold=0.2", "unroll": 1, "mask": "stencil"},
        {"fuse": "none", "policy": "most-work", "unroll": "3,2", "mask": "tiles"},
        {"fuse": "none", "policy": "threshold=0.5,all", "mask": "kill", "unroll": 2},
        {"fuse": "ray", "mask": "none"},
        {"fuse": "none", "mask": "none", "traversal": "escape"},
        {"fuse": "ray", "memory": "texture", "barrier": "off"},
        {"fuse": "none", "barrier": "off", "traversal": "octants"},
        {"machine": "singlepass", "memory": "texture", "barrier": "off"},
    ],
    ids=lambda options: " ".join(f"{key}={value}" for key, value in options.items()),
)
def test_however_it_runs_the_bits_are_the_same(device, scene: Scene, expected: Film, options: dict[str, Any]) -> None:
    assert_same(render(scene, **options), expected)


@pytest.mark.parametrize("accel", ["grid", "two-level-bvh", "two-level-grid"])
def test_over_every_structure_machines_agree(device, scene: Scene, accel: str) -> None:
    single = render(scene, (12, 9), 2, accel=accel, **SINGLE)
    # The program's states are the same, and its passes are equated over the tree above: here each walk within one.
    for fuse in ("ray", "none") if accel == "two-level-grid" else ("none",):
        assert_same(render(scene, (12, 9), 2, accel=accel, fuse=fuse), single)


def test_the_naive_policy_too(device, scene: Scene) -> None:
    """One step at a time for one state at a time: few pixels, for it takes thousands of passes."""
    size = (5, 3)
    naive = render(scene, size, 1, fuse="none", policy="naive", unroll=1)
    assert_same(naive, render(scene, size, 1, **SINGLE))


@pytest.mark.parametrize("sampler", ["sobol", "zorder", "independent", "table"])
def test_samplers_and_strategies_on_both_machines(device, scene: Scene, sampler: str) -> None:
    options: dict[str, Any] = {"sampler": sampler, "roulette": 2, "seed": 11, "clamp": 3.0, "depth": 4}
    single, passes = (
        Renderer(scene, environment=spread(), **options, **machine) for machine in (SINGLE, {"fuse": "ray"})
    )
    for strategy in ("lights", "bsdf"):
        films = []
        for renderer in (single, passes):
            renderer.update(strategy=strategy)
            films.append(renderer.render((12, 9), spp=2).film)
        assert_same(films[1], films[0])
        assert films[0].mean().mean() > 0.05
    for renderer in (single, passes):
        renderer.release()


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_tiles_and_samples_in_a_run_change_no_bit(device, scene: Scene, expected: Film, machine: str) -> None:
    renderer = Renderer(scene, machine=machine, depth=4, environment=spread())
    for tile, runs in ((None, (1, 2, 3)), ((8, 8), (3,)), ((13, 5), (2, 3)), ((64, 64), (1, 3))):
        film = FilmBuffer(renderer.device, SIZE)
        for samples in runs:
            for _ in renderer.sampler.render_tiles(
                FramePlan(renderer.settings, renderer.camera, SIZE, samples=samples, tiling=tile and Tiling(tile)), film
            ):
                pass
        assert_same(film.film(), expected)
    renderer.release()


def test_counting_does_not_disturb(device, scene: Scene, expected: Film) -> None:
    for options in (SINGLE, {"fuse": "none"}):
        renderer = Renderer(scene, depth=4, environment=spread(), **options)
        picture = renderer.render(SIZE, spp=SAMPLES, stats=True)
        renderer.release()
        assert picture.film is not None
        assert_same(picture.film, expected)
        calls = {name: total.calls for name, total in picture.stats.kernels.items()}
        pixels = SIZE[0] * SIZE[1] * SAMPLES
        assert calls["finish"] == pixels <= calls["begin"] <= 2 * pixels
        assert calls["arrive"] >= calls["scatter"] and calls["light"] >= calls["resolve"] > 0


# -- motion -----------------------------------------------------------------------------------------------------------


def two_mirrors() -> Scene:
    """Two mirrors that face each other across a shining ball on a grey ground."""
    square = places.quads(np.array([[[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]]))
    kinds = [places.material(0.5), places.material(0.95, kind="mirror"), places.material(0.2, shines=4.0)]
    ground = places.quads(np.array([[[-4, -1.2, 4], [4, -1.2, 4], [4, -1.2, -4], [-4, -1.2, -4]]]))
    meshes = [places.flat(square, 1, "mirror"), places.flat(places.sphere(2) * 0.3, 2, "lamp"), places.flat(ground)]
    made = places.scene(meshes, kinds, Camera((0.5, 1.2, 4.5), (0, 0, 0)))
    made.instances = [Instance(0, orbit(0.0)), Instance(0, orbit(np.pi)), Instance(1), Instance(2)]
    return made


def orbit(angle: float) -> np.ndarray:
    """On a circle of radius 1.8 around +Y, facing the middle."""
    c, s = np.cos(angle), np.sin(angle)
    out = np.eye(4)
    out[:3, :3] = [[-s, 0, -c], [0, 1, 0], [c, 0, -s]]
    out[:3, 3] = 1.8 * c, 0.0, 1.8 * s
    return out


def test_flat_and_two_level_structures_make_one_picture(device) -> None:
    """Not to the bit, for rays are taken into each instance's own space: but for few paths that hit an edge."""
    made = {
        accel: render(two_mirrors(), (40, 30), 2, accel=accel, environment=(0.1, 0.15, 0.2), **SINGLE).mean()
        for accel in ("bvh", "grid", "two-level-bvh", "two-level-grid")
    }
    for other in ("grid", "two-level-bvh", "two-level-grid"):
        close = np.isclose(made[other], made["bvh"], rtol=1e-3, atol=1e-4).all(axis=-1)
        assert close.mean() > 0.97, other


def test_a_scene_without_light_stands_in_the_studio_and_says_so(device) -> None:
    ball = places.alone(places.sphere(2), places.material(0.5))
    lit = Renderer(ball, depth=2, **SINGLE)
    assert len(lit.notes) == 1 and "studio" in lit.notes[0] and "--environment sky or none" in lit.notes[0]
    assert (lit.render((16, 16), spp=2).linear > 0).mean() > 0.9  # but for the shadow below it
    dark = Renderer(ball, depth=2, environment="none", **SINGLE)
    assert len(dark.notes) == 1 and "nothing lights the scene" in dark.notes[0] and "studio" not in dark.notes[0]
    assert not dark.render((16, 16), spp=2).linear.any()
    assert not dark.render((16, 16), spp=2, layers=("bounce",)).layers["bounce.1"].any()
    for renderer in (lit, dark):
        renderer.release()


@pytest.mark.parametrize(
    ("value", "what", "instead"), [(np.nan, "not a number", 0.0), (np.inf, "infinite", 1.0), (-1.0, "negative", 0.0)]
)
def test_an_environment_that_is_no_light_is_named(
    device, tmp_path: Path, value: float, what: str, instead: float
) -> None:
    """In a file the pixel is mended, in one line; in an array it is an error."""
    from raystream.film.files import image

    ball = places.alone(places.sphere(1), places.material())
    pixels = np.ones((4, 8, 3), np.float32)
    pixels[1, 2, 0] = value
    path = tmp_path / "sky.exr"
    image.save(path, pixels, {}, {})
    renderer = Renderer(ball, environment=str(path))
    (note,) = renderer.notes
    assert "sky.exr: 1 pixel is " + what in note and "\n" not in note
    expected = pixels.copy()
    expected[1, 2, 0] = instead
    np.testing.assert_array_equal(renderer.prepared.lighting.environment.pixels, expected)
    renderer.release()
    with pytest.raises(ViewerError) as raised:
        Renderer(ball, environment=ImageEnvironment(pixels, "sky"))
    assert "sky" in str(raised.value) and "pixel (2, 1)" in str(raised.value) and "\n" not in str(raised.value)


# -- awkward scenes ---------------------------------------------------------------------------------------------------


def test_extremes_of_depth_and_aperture(device) -> None:
    """Depth 0 is light seen; a lens as large as the scene blurs it; nothing breaks."""
    scene = everything()
    seen = render(scene, depth=0, environment="none", **SINGLE).mean()
    # The lamp as the camera sees it, or in no mirror: nothing else shines.
    assert set(np.unique(seen.round(3))) <= {0.0, 2.0, 4.0, 6.0}
    for options in ({"depth": 1024, "roulette": 3}, {"aperture": 2.0, "focus": 3.0}, {"aperture": 1e18}):
        film = render(scene, (9, 6), 2, **SINGLE, **options)
        assert np.isfinite(film.sum).all() and (film.sum >= 0).all()
