"""First hits by drawing triangles: those of rays, to the bit, wherever rays share an origin and an offset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import meshes
import numpy as np
import pytest
from numpy.typing import NDArray

import raystream
from raystream import Camera, Renderer, Scene
from raystream.cameras.lens import lens_rays, lens_uniforms
from raystream.film.device_film import FilmBuffer
from raystream.kernels.records import HIT
from raystream.renderer.device.first_hits import RasterizedHits, differing_share
from raystream.renderer.sampling.ray_queries import FAR
from raystream.renderer.sampling.sampler import FramePlan, Tiling
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream

# A rasteriser may leave a pixel out that a silhouette touches beyond 1/16 pixel; llvmpipe leaves none.
TIES = 1e-4


def seen(renderer: Renderer, size: tuple[int, int], rows: slice, columns: slice, number: int = 0) -> NDArray:
    """Hits (H, W) of a rectangle by drawing, at the offset of a sample, as a stream that is as wide holds them."""
    wide, tall = columns.stop - columns.start, rows.stop - rows.start
    with renderer.device.current():
        raster = RasterizedHits(renderer.device, renderer.prepared, renderer.gpu_scene.resources, (wide, tall), "sobol")
        camera = lens_uniforms(renderer.camera, size, renderer.settings.pixel_filter)
        raster.set(
            {
                **camera,
                **renderer.settings.sample_uniforms(
                    renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).shared
                ),
            },
            size,
        )
        stream = Stream(renderer.device, HIT, (wide, tall))
        raster.copy_hits(stream, rows, columns, number, renderer.camera.origin)
        found = stream.read()
        stream.release()
        raster.release()
    return found


def cast(scene: Scene, device: Any, size: tuple[int, int], first_hits: str, **options: Any) -> dict[str, NDArray]:
    renderer = Renderer(scene, device=device, program="cast", machine="singlepass", first_hits=first_hits, **options)
    assert renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).mode == first_hits
    picture = renderer.render(size=size, layers=("triangle", "depth"))
    return {"linear": picture.linear, **picture.layers}


def assert_same(scene: Scene, device: Any, size: tuple[int, int], **options: Any) -> dict[str, NDArray]:
    """Drawn and walked: distances and colours to the bit, but for ties on drivers that are not Mesa's."""
    drawn, walked = (cast(scene, device, size, way, **options) for way in ("raster", "rays"))
    same = drawn["triangle"] == walked["triangle"]
    assert same.all() if device.software else same.mean() >= 1 - TIES
    for name in ("depth", "linear"):
        assert np.array_equal(drawn[name][same], walked[name][same])
    return drawn


@pytest.mark.parametrize("camera", ["front", "corner", "blocks", "light"])
def test_cornell_from_inside(camera, device):
    """Walls reach behind the camera."""
    found = assert_same(raystream.load("cornell"), device, (96, 96), camera=camera)
    assert (found["triangle"] >= 0).mean() > 0.9


@pytest.mark.parametrize("test", ["watertight", "moller-trumbore", "planes"])
@pytest.mark.parametrize("accel", ["bvh", "grid"])
def test_every_test_and_structure(test, accel, device):
    found = assert_same(raystream.load("teapotahedron"), device, (96, 54), accel=accel, intersection=test)
    assert len(np.unique(found["triangle"])) > 500


@pytest.mark.parametrize(
    ("name", "edge", "least"),
    [("bunny", 160, 3000), ("bunny", 24, 150), pytest.param("dragon", 160, 3000, marks=pytest.mark.slow)],
)
def test_scans(name, edge, least, device, shared_scenes: Path):
    """Triangles of less than a pixel, over 150 of them in one."""
    found = assert_same(raystream.load(shared_scenes / f"{name}.ply"), device, (edge, edge))
    assert len(np.unique(found["triangle"])) > least


@pytest.mark.parametrize("seed", range(4))
def test_soups_around_the_camera(seed, device):
    """Triangles of all sizes and slivers, through and behind the plane of the camera; a wide view."""
    rng = np.random.default_rng(seed)
    middle = rng.normal(size=(400, 1, 3)) * 3
    size = 10.0 ** rng.uniform(-3, 1.5, (400, 1, 1))
    corners = middle + size * rng.normal(size=(400, 3, 3))
    corners[::5, 2] = corners[::5, 0] + rng.uniform(-1, 2, (80, 1)) * (
        corners[::5, 1] - corners[::5, 0]
    )  # without area
    corners[1::5, 2] = corners[1::5, 0] + 1e-4 * rng.normal(size=(80, 3))  # slivers
    camera = Camera(tuple(rng.normal(size=3)), tuple(rng.normal(size=3)), fov=float(rng.uniform(20, 160)))
    assert_same(meshes.scene(corners), device, (97, 61), camera=camera)


@pytest.mark.parametrize("scale", [1e-6, 1e6, 1e12])
def test_any_unit(scale, device):
    rng = np.random.default_rng(5)
    corners = (rng.normal(size=(200, 1, 3)) + 0.4 * rng.normal(size=(200, 3, 3))) * scale
    found = assert_same(meshes.scene(corners), device, (64, 64))
    assert (found["triangle"] >= 0).mean() > 0.1


def test_the_lower_number_wins_a_tie(device):
    """The same triangle four times, and behind others at a distance of a unit in the last place."""
    front = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], np.float32)
    behind = front.copy()
    behind[:, 2] = np.nextafter(np.float32(-3), np.float32(-4)) + 3  # 3 from the camera
    found = assert_same(
        meshes.scene(np.stack([behind, front, front, behind, front])),
        device,
        (32, 32),
        camera=Camera((0, 0, 3), (0, 0, 0)),
    )
    assert set(np.unique(found["triangle"])) <= {-1, 0, 1} and (found["triangle"] == 1).mean() > 0.1


def test_triangles_that_are_not_finite(device):
    corners = np.array([[[-1, -1, 0], [1, -1, 0], [0, 1, 0]]] * 3, np.float32)
    corners[0, 1, 0], corners[1, 2] = np.nan, np.inf
    found = assert_same(meshes.scene(corners), device, (16, 16), camera=Camera((0, 0, 3), (0, 0, 0)))
    assert set(np.unique(found["triangle"])) == {-1, 2}


def test_nothing_to_draw(device):
    found = assert_same(Scene.from_triangles(np.zeros((0, 3)), np.zeros((0, 3), int)), device, (8, 8))
    assert (found["triangle"] == -1).all()


@pytest.mark.parametrize("pixel_filter", ["box", "gaussian", "point"])
def test_records_are_those_of_rays_at_every_offset(pixel_filter, device):
    """Hits of sample 3 of a part of a picture: against the tracer's, of the same rays in float64."""
    size, rows, columns, number = (60, 40), slice(11, 33), slice(17, 52), 3
    scene = raystream.load("cornell")
    renderer = Renderer(scene, device=device, program="shadow", pixel_filter=pixel_filter, offsets="sample")
    found = seen(renderer, size, rows, columns, number)
    assert found.shape == (22, 35)
    y, x = np.mgrid[rows, columns]
    film = _offset(device, number)
    pixels, u = np.stack([x.ravel(), y.ravel()], 1), np.broadcast_to(film, (x.size, 2))
    rays = lens_rays(renderer.camera, size, pixels, u, u, pixel_filter)
    hits = renderer.trace(*rays)
    same = found["triangle"].ravel() == hits.triangle
    assert same.mean() > 0.99  # rays in float32 and float64 part at edges
    both = same & (hits.triangle >= 0)
    np.testing.assert_allclose(found["t"].ravel()[both], hits.distance[both], rtol=1e-5)
    missed = found["triangle"] < 0
    assert (found["t"][missed] == FAR).all() and (found["barycentric"][missed] == 0).all()
    assert differing_share(found.ravel(), found.ravel()) == 0


def _offset(device: Any, number: int) -> NDArray:
    """The point of the unit square that sample ``number`` of pixel (0, 0) takes."""
    import glsl_call

    from raystream.lighting.sampler import sampler

    function = glsl_call.Function(
        device, "vec2 sample_2d(ivec2 pixel, int number, int dimension)", modules=[sampler()], text=""
    )
    (value,) = function(np.zeros((1, 2), int), np.array([number]), np.zeros(1, int))
    return value[0]


def test_layers_of_what_was_drawn(device):
    """Beside a program of samples, too; rays that were not walked took no steps."""
    scene = raystream.load("cornell")
    names = ("depth", "normal", "triangle", "steps", "tests")
    options: dict[str, Any] = {"program": "shadow", "offsets": "sample", "device": device}
    pictures = {
        way: Renderer(scene, first_hits=way, **options).render(size=(32, 24), spp=1, layers=names)
        for way in ("rays", "raster")
    }
    for name in names[:3]:
        assert np.array_equal(pictures["rays"].layers[name], pictures["raster"].layers[name])
    for name in names[3:]:
        assert pictures["rays"].layers[name].any() and not pictures["raster"].layers[name].any()


@pytest.mark.parametrize("program", ["shadow", "whitted", "path"])
def test_serves_every_program(program, device):
    """Three samples, each with an offset of its own: drawn and walked pictures are one."""
    options: dict[str, Any] = {"program": program, "machine": "singlepass", "offsets": "sample", "device": device}
    scene = raystream.load("cornell")
    walked = Renderer(scene, first_hits="rays", **options).render(size=(40, 30), spp=3)
    drawn = Renderer(scene, first_hits="raster", **options)
    assert drawn.gpu_scene.first_hits(drawn.settings, drawn.camera).mode == "raster" and drawn.notes == []
    assert np.array_equal(drawn.render(size=(40, 30), spp=3).linear, walked.linear)
    assert not np.array_equal(
        walked.linear, Renderer(scene, **options | {"offsets": "pixel"}).render((40, 30), 3).linear
    )


def test_pieces_of_a_picture(device):
    """Tiles whose streams are wider than what is left at the right, and a film that goes on."""
    scene, size = raystream.load("cornell"), (50, 37)
    renderer = Renderer(scene, device=device, program="shadow", machine="singlepass")
    assert renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).mode == "raster"
    whole = renderer.render(size=size, spp=3).film
    film = FilmBuffer(device, size)
    for samples in (1, 3):
        for _ in renderer.sampler.render_tiles(
            FramePlan(renderer.settings, renderer.camera, size, samples=samples, tiling=Tiling((32, 16))), film
        ):
            pass
    made = film.film()
    assert np.array_equal(made.sum, whole.sum) and np.array_equal(made.square, whole.square)


def test_without_barriers_and_buffers(device):
    with device.current():
        other = Device(device.context, allow_barrier=False, allow_buffers=False)
    options: dict[str, Any] = {"program": "shadow", "machine": "multipass", "first_hits": "raster"}
    scene = raystream.load("cornell")
    first, second = (Renderer(scene, device=d, **options).render(size=(24, 24), spp=2).linear for d in (device, other))
    assert np.array_equal(first, second)


def test_another_camera_program_and_scene_place(device):
    """One renderer, drawn again and again: nothing of the picture before stays."""
    scene = raystream.load("cornell")
    renderer = Renderer(scene, device=device, program="shadow", machine="singlepass")
    renderer.render(size=(24, 24), spp=1)
    renderer.update(camera="blocks")
    fresh = Renderer(scene, device=device, program="shadow", machine="singlepass", camera="blocks")
    assert np.array_equal(renderer.render(size=(31, 24), spp=2).linear, fresh.render(size=(31, 24), spp=2).linear)
    renderer.reload()
    assert np.array_equal(renderer.render(size=(31, 24), spp=2).linear, fresh.render(size=(31, 24), spp=2).linear)
    transforms = np.stack([instance.transform for instance in scene.instances])
    transforms[5, 0, 3] += 60
    renderer.move(transforms)
    moved = Renderer(scene.moved(np.arange(len(transforms)), transforms), device=device, program="shadow")
    moved.update(camera=renderer.camera)
    assert np.array_equal(renderer.render(size=(24, 24), spp=1).linear, moved.render(size=(24, 24), spp=1).linear)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"accel": "two-level-bvh"}, "instances"),
        ({"aperture": 5.0}, "lens"),
        ({"offsets": "pixel"}, "offset of its own"),
    ],
)
def test_what_cannot_be_drawn_is_walked_and_said(options, why, device):
    scene = raystream.load("cornell")
    asked = Renderer(scene, device=device, program="shadow", first_hits="raster", machine="singlepass", **options)
    assert asked.gpu_scene.first_hits(asked.settings, asked.camera).mode == "rays"
    (note,) = [line for line in asked.notes if "raster" in line]
    assert why in note and note.count("\n") == 0
    assert asked.render(size=(16, 16), spp=1).linear.any()
    quiet = Renderer(scene, device=device, program="shadow", **options)
    assert quiet.gpu_scene.first_hits(quiet.settings, quiet.camera).mode == "rays" and not any(
        "raster" in line for line in quiet.notes
    )


def test_who_draws_without_being_told(device):
    scene = raystream.load("cornell")
    ways = {}
    for name in ("cast", "shadow", "whitted", "path"):
        renderer = Renderer(scene, device=device, program=name)
        ways[name] = renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).mode
    assert ways == {"cast": "rays", "shadow": "raster", "whitted": "rays", "path": "rays"}
