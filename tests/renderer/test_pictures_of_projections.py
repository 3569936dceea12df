"""Pictures of every projection: what is seen, by every program, on every machine, in previews and by the denoiser."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest
from pictures import MACHINES, assert_same

import raystream
from raystream import Camera, Renderer
from raystream.base.errors import ViewerError
from raystream.film.error import Stop
from raystream.renderer.session.session import Session
from raystream.scene.projections import Equirectangular, Fisheye, Intrinsics, Orthographic

SIZE = (24, 16)
BASE = Camera((270.0, 300.0, 150.0), (285.0, 240.0, 500.0), fov=60)
MODELS: dict[str, dict[str, Any]] = {
    "orthographic": {"projection": Orthographic(520.0)},
    "equirectangular": {"projection": Equirectangular()},
    "fisheye": {"projection": Fisheye(220.0)},
    "brown_conrady": {"projection": Intrinsics(14.0, 14.0, 11.0, 8.0, SIZE, (-0.9, 0.0, 0.01, 0.0))},
    "kannala_brandt": {"projection": Intrinsics(9.0, 9.0, 11.5, 7.5, SIZE, (-0.05, 0.0, 0.0, 0.0), fisheye=True)},
    "perspective": {"eyes": 20.0},
}
CAMERAS = {name: replace(BASE, **model) for name, model in MODELS.items()}
PARTLY = ("fisheye", "brown_conrady")  # of them the film's corners see nothing


@pytest.fixture(scope="module")
def renderer(device: Any) -> Renderer:
    return Renderer(raystream.load("cornell"), device=device, machine="singlepass", depth=2, environment="1,2,3")


def seen(renderer: Renderer, camera: Camera) -> tuple[np.ndarray, Any]:
    """Which pixels see something, and the hits of the rays of the float64 form."""
    origins, directions = (part.reshape(-1, 3) for part in camera.rays(*SIZE))
    there = np.isfinite(directions).all(axis=1)
    return there, renderer.trace(origins, np.where(there[:, None], directions, 1.0), view=True)


@pytest.mark.parametrize("name", CAMERAS)
def test_layers_are_those_of_its_rays(renderer: Renderer, name: str) -> None:
    """Depths of rays from the float64 form of the projection, traced by themselves; nothing beside."""
    camera = CAMERAS[name]
    renderer.update(program="cast", camera=camera)
    picture = renderer.render(SIZE, 1, layers=("depth", "triangle"))
    there, hits = seen(renderer, camera)
    assert (name in PARTLY) == (not there.all()) and there.any()
    triangles = np.where(there, hits.triangle, -1)
    same = picture.layers["triangle"].ravel() == triangles
    assert same.mean() > 0.97  # of the rest a rounding decides at edges
    hit = same & (triangles >= 0)
    assert hit.any()
    np.testing.assert_allclose(picture.layers["depth"].ravel()[hit], hits.distance[hit], rtol=2e-5, atol=1e-3)
    assert not picture.linear.reshape(-1, 3)[~there].any()
    # A surface lit from the eye is never as dark as nothing, and the background is not black.
    assert (picture.linear.reshape(-1, 3)[there].max(axis=1) > 0).mean() > 0.9


@pytest.mark.parametrize("name", CAMERAS)
@pytest.mark.parametrize("program", ["path", "whitted", "photon"])
def test_programs_see_light_where_there_is_something_to_see(renderer: Renderer, name: str, program: str) -> None:
    """The environment, too, where a ray leaves the scene; black beside the film's part that sees."""
    camera = CAMERAS[name]
    renderer.update(program=program, camera=camera, pixel_filter="point", eye_rays="each")
    linear = renderer.render(SIZE, 2).linear.reshape(-1, 3)
    there, hits = seen(renderer, camera)
    away = there & (hits.triangle < 0)
    assert not linear[~there].any()
    np.testing.assert_allclose(linear[away], np.broadcast_to([1.0, 2.0, 3.0], linear[away].shape), rtol=1e-5)
    assert (linear[there].max(axis=1) > 0).mean() > 0.9


@pytest.mark.parametrize("program", ["path", "whitted"])
@pytest.mark.parametrize("ground", ["none", "shadow"])
def test_no_backdrop_is_beside_the_film_s_part_that_sees(device: Any, ground: str, program: str) -> None:
    """Every other pixel of a scene far away has it, on the floor, too."""
    looks = Camera((0.0, 3.0, 8.0), (0.0, 0.5, 0.0), fov=60).with_projection(Fisheye(180.0))
    options = {"environment": "sky", "background": "gradient", "pixel_filter": "point"}
    made = Renderer(raystream.load("balls"), device=device, program=program, ground=ground, camera=looks, **options)
    linear = made.render(SIZE, 2).linear.reshape(-1, 3)
    there = seen(made, looks)[0]
    assert not linear[~there].any() and (~there).any()
    assert (linear[there].max(axis=1) > 0).mean() > 0.9
    made.release()


@pytest.mark.parametrize("name", ["fisheye", "orthographic"])
def test_one_picture_on_every_machine(device: Any, name: str) -> None:
    pictures = []
    for machine in MACHINES:
        pictures.append(places.picture("cornell", SIZE, 2, device=device, camera=CAMERAS[name], depth=2, **machine))
    shared = Renderer(raystream.load("cornell"), device=device, camera=CAMERAS[name], depth=2, eye_rays="shared")
    point = Renderer(raystream.load("cornell"), device=device, camera=CAMERAS[name], depth=2, pixel_filter="point")
    assert shared.gpu_scene.first_hits(shared.settings, shared.camera).mode == "shared"
    assert np.array_equal(shared.render(SIZE, 2).linear, point.render(SIZE, 2).linear)
    for other in pictures[1:]:
        assert_same(pictures[0], other)
    assert pictures[0].linear.max() > 0


def test_rasterised_first_hits_give_way_to_rays(device: Any) -> None:
    """The reason is told where they were asked for."""
    made = Renderer(
        raystream.load("cornell"), device=device, program="shadow", first_hits="raster", camera=CAMERAS["orthographic"]
    )
    assert made.gpu_scene.first_hits(made.settings, made.camera).mode == "rays"
    assert any("pinhole alone" in note for note in made.notes)
    made.update(camera=BASE)
    assert made.gpu_scene.first_hits(
        made.settings, made.camera
    ).mode == "raster" and not made.gpu_scene.prepared.projection(made.settings)


@pytest.mark.parametrize("name", ["orthographic", "equirectangular", "brown_conrady"])
def test_the_denoiser_keeps_light_and_takes_noise(renderer: Renderer, name: str) -> None:
    """The picture's mean stays; it is nearer to the converged one than its samples."""
    size = (48, 32)
    camera = CAMERAS[name]
    if name == "orthographic":  # aslant, so that depths change from pixel to pixel
        camera = replace(camera, origin=(500.0, 520.0, 40.0), target=(180.0, 150.0, 420.0))
    if name == "brown_conrady":
        camera = camera.with_projection(Intrinsics(28.0, 28.0, 23.5, 15.5, size, (-0.2, 0.0, 0.0, 0.0)))
    renderer.update(program="path", camera=camera, denoise="none")
    wanted = renderer.render(size, 256).linear
    noisy = renderer.render(size, 4).linear
    renderer.update(denoise="shader")
    clean = renderer.render(size, 4).linear
    renderer.update(denoise="none")
    least = np.clip(wanted, 0, 3)
    assert np.square(np.clip(clean, 0, 3) - least).mean() < 0.6 * np.square(np.clip(noisy, 0, 3) - least).mean()
    assert clean.mean() == pytest.approx(noisy.mean(), rel=0.02)


def test_a_matrix_without_a_size_is_of_the_whole_picture_in_previews(renderer: Renderer) -> None:
    """Those of fewer pixels show the same."""
    renderer.update(program="path", camera=replace(BASE, projection=Intrinsics(14.0, 14.0, 11.5, 7.5)))
    session = Session(renderer, SIZE, Stop(2))
    while session.job is None:
        session.advance(0.0)
    model = session.job.camera.projection
    assert isinstance(model, Intrinsics) and model.size == SIZE
    session.abandon()


def test_facts_tell_the_projection(renderer: Renderer, tmp_path: Any) -> None:
    """Pictures of another one are not resumed; those of pinholes say nothing of it."""
    file = str(tmp_path / "one.exr")
    renderer.update(program="path", camera=CAMERAS["fisheye"])
    picture = renderer.render(SIZE, 1)
    assert picture.metadata["projection"] == "equidistant fisheye 220.0"
    picture.save(file)
    renderer.update(camera=replace(BASE, projection=Fisheye(200.0)))
    with pytest.raises(ViewerError, match="projection"):
        renderer.render(SIZE, 2, resume=file)
    renderer.update(camera=CAMERAS["perspective"])
    assert renderer.render(SIZE, 1).metadata["stereo"] == "20.0"
    renderer.update(camera=BASE)
    assert not {"projection", "stereo"} & renderer.render(SIZE, 1).metadata.keys()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"projection": "equirectangular", "ortho": 2.0}, "--ortho: is not of --projection equirectangular"),
        ({"ortho": 2.0, "fisheye": 180.0}, "--fisheye: is not of --ortho"),
        ({"distortion": "1,0,0,0"}, "--distortion: needs the camera's matrix"),
        ({"projection": "opencv-fisheye"}, "--projection opencv-fisheye: needs the camera's matrix"),
        ({"intrinsics": "-4,4,2,2"}, "--intrinsics: focal length fx -4 is not above 0"),
        ({"intrinsics": np.ones((3, 3))}, "--intrinsics:"),
        ({"intrinsics": "4,4,2,2", "projection": "opencv-fisheye", "distortion": (1, 0, 0, 0, 0)}, "--distortion: 5"),
    ],
)
def test_options_that_are_no_camera(renderer: Renderer, options: dict[str, Any], words: str) -> None:
    before = renderer.settings
    with pytest.raises(ViewerError) as found:
        renderer.update(**options)
    assert words in found.value.typed and renderer.settings is before


def test_options_make_cameras(renderer: Renderer) -> None:
    def camera(**options: Any) -> Camera:
        names = ("projection", "ortho", "fisheye", "intrinsics", "distortion", "stereo")
        renderer.update(camera=BASE, **{**dict.fromkeys(names), **options})
        return renderer.camera

    shown = camera(ortho="auto").projection
    assert isinstance(shown, Orthographic)  # as high as the pinhole's picture at its target
    assert shown.height == pytest.approx(2 * np.tan(np.radians(30)) * math.dist(BASE.target, BASE.origin))
    assert camera(ortho=3).projection == Orthographic(3.0)
    renderer.update(camera=replace(BASE, focus=12.0), ortho="auto")  # as a file's camera has it
    assert renderer.camera.projection == Orthographic(2 * math.tan(math.radians(30)) * 12.0)
    assert camera(projection="equirectangular", stereo=0.06) == replace(BASE, projection=Equirectangular(), eyes=0.06)
    assert camera(fisheye=200).projection == Fisheye(200.0)
    assert camera(projection="equisolid").projection == Fisheye(180.0, equisolid=True)
    measured = camera(intrinsics="4,5,2,3 8x6", distortion="0.1,0,0,0").projection
    assert measured == Intrinsics(4.0, 5.0, 2.0, 3.0, (8, 6), (0.1, 0.0, 0.0, 0.0))
    assert camera(intrinsics="4,5,2,3", projection="opencv-fisheye").kind == "kannala_brandt"
    renderer.update(camera=CAMERAS["fisheye"], intrinsics=None, projection="perspective")
    assert renderer.camera.projection is None
    renderer.update(projection=None)
    assert renderer.camera == CAMERAS["fisheye"]


def test_options_that_mean_nothing_to_a_camera_are_told(renderer: Renderer) -> None:
    def notes(**options: Any) -> list[str]:
        names = ("projection", "ortho", "fisheye", "intrinsics", "fov", "aperture")
        renderer.update(camera=BASE, **{**dict.fromkeys(names), **options})
        return [note for note in renderer.notes if "--fov" in note or "in focus" in note]

    assert notes(fov=30, aperture=2) == notes(fov=30, ortho="auto") == notes(fisheye=90) == []
    for options in ({"fisheye": 90}, {"intrinsics": "4,4,2,2"}, {"ortho": 3}):
        assert len(notes(fov=30, **options)) == 1, options
    assert "in focus" in notes(projection="equirectangular", aperture=2)[0]
    renderer.update(aperture=None, projection=None)
