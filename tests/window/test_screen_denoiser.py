"""A session on a screen shows denoised pictures: previews, at rest, and what is there in the end."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.denoise import oidn
from raystream.denoise.reprojection import Changes
from raystream.film.error import Stop
from raystream.renderer.preview import gbuffer, scheduler
from raystream.renderer.preview.motion import changes
from raystream.renderer.preview.preview import BackgroundDenoiser
from raystream.renderer.preview.scheduler import IN_FLIGHT, TIMED_EVERY, FrameKind
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.denoising import NoisyPicture
from raystream.renderer.session.session import Session
from raystream.scene.camera import Camera
from raystream.viewport.picture_texture import PictureTexture

SIZE = 64, 48


@pytest.fixture(scope="module")
def renderer(device: Any) -> Renderer:
    return Renderer("cornell", device=device, program="path", machine="singlepass")


@pytest.fixture
def session(renderer: Renderer) -> Any:
    with renderer.device.current():
        made = Session(renderer, SIZE, Stop(4), screen=PictureTexture(renderer.device))
        yield made
        made.release()
        renderer.update(denoise="auto", program="path")


def run(session: Session, pictures: int = 1, moving: bool = False) -> None:
    """Until so many more pictures are there."""
    wanted = session.pictures + pictures
    while session.pictures < wanted and not session.idle:
        session.advance(0.01, moving)


def noise(picture: np.ndarray) -> float:
    """How much neighbours differ on the Cornell box's back wall."""
    part = picture[16:24, 26:38].mean(axis=-1)
    return float(np.abs(np.diff(part, axis=1)).mean() / part.mean())


def test_a_preview_is_drawn_up_by_features_of_more_pixels(session: Session) -> None:
    session.scheduler.light.note(3000)  # samples a second: a budget of 10 ms is for 30 of them
    session.scheduler.upsampled.note(1e6)  # and for all pixels to be upsampled
    run(session, moving=True)
    assert session.shown is not None and session.shown[1][0] < SIZE[0]
    assert SIZE[0] >= session.linear().shape[1] > 2 * session.shown[1][0]


def test_a_rung_at_rest_makes_way_for_the_hand(session: Session, renderer: Renderer) -> None:
    """A picture of more light than a flight's takes longer than one of these may."""
    start = renderer.camera
    session.scheduler.light.note(3000)
    run(session, moving=True)
    scale = session.scale
    while not session.running or session.job.frame.kind is not FrameKind.RUNG:
        session.advance(0.0)
    assert session.running and session.job.frame.scale >= 2 * scale
    session.update(camera=aside(renderer, 5.0))
    assert not session.running
    session.update(camera=start)
    run(session, 20)
    film = session.film()
    assert session.converged and film is not None  # its bits are not those that were held back on the screen
    renderer.update(denoise="none")
    np.testing.assert_array_equal(film.linear, renderer.render(SIZE, spp=4).linear)


def test_at_rest_the_picture_is_denoised_and_the_film_is_not(session: Session, renderer: Renderer) -> None:
    run(session, 20)
    assert session.converged and session.samples == 4
    film, shown = session.film(), session.linear()
    assert film is not None and noise(shown) < 0.5 * noise(film.linear)
    picture = session.picture()
    np.testing.assert_array_equal(picture.linear, shown)
    np.testing.assert_array_equal(picture.layers["noisy"], film.linear)
    renderer.update(denoise="none")
    np.testing.assert_array_equal(film.linear, renderer.render(SIZE, spp=4).linear)


def test_switched_off_the_film_shows_at_once_and_goes_on(session: Session) -> None:
    run(session, 20)
    before = session.film()
    session.update(denoise="none")
    assert session.samples == 4 and before is not None
    np.testing.assert_array_equal(session.linear(), before.linear)
    session.update(denoise="shader")
    run(session, 2)
    assert session.samples == 4 and session.converged
    assert noise(session.linear()) < 0.5 * noise(before.linear)


def test_open_image_denoise_takes_over(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the rungs its pictures alone are shown, one of more samples after the other, the last of all of them."""
    pytest.importorskip(oidn.PACKAGE)
    of, drafts, shown, picture = dict[int, NoisyPicture](), [], [], session.on_screen.picture
    begin = BackgroundDenoiser.begin

    def begun(self: BackgroundDenoiser, film: Any, samples: int, noisy: NoisyPicture, draft: bool) -> None:
        of[samples] = noisy
        drafts.append(draft)
        begin(self, film, samples, noisy, draft)

    def seen(stream: Any, denoiser: str, samples: int) -> None:
        shown.append((denoiser, samples, stream.size))
        assert denoiser == "oidn" or session.job.frame.kind.preview
        picture(stream, denoiser, samples)

    monkeypatch.setattr(BackgroundDenoiser, "begin", begun)
    monkeypatch.setattr(session.on_screen, "picture", seen)
    session.scheduler.light.note(3000)
    run(session, 40)
    assert session.converged and session.idle
    first = next(number for number, (denoiser, *_) in enumerate(shown) if denoiser == "oidn")
    after = shown[first:]
    assert {size for *_, size in shown[:first]} == {(64, 48)}  # the rungs' surfaces are of all pixels
    assert {denoiser for denoiser, *_ in after} == {"oidn"}
    counts = [samples for _, samples, _ in after]
    assert counts == sorted(set(counts)) == sorted(of) and counts[-1] == session.samples
    assert drafts[0] and not drafts[-1]
    softened = session.linear() - of[4].denoised()  # by two ninths of a filter of 3 x 3 pixels
    assert 0 < np.abs(softened).mean() < 0.08 * of[4].denoised().mean()  # 0.065 measured
    assert np.abs(of[4].denoised(draft=True) - of[4].denoised()).mean() > 1e-3 * of[4].denoised().mean()
    assert session.picture().metadata["denoised"] == "oidn"


def test_a_film_of_many_samples_is_guided_by_its_own_surfaces(
    renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few have more camera rays than samples, which are gone once the film has seen as much."""
    pytest.importorskip(oidn.PACKAGE)
    guides, begin = dict[int, bool](), BackgroundDenoiser.begin
    with renderer.device.current():
        session = Session(
            renderer, (24, 18), Stop(2 * scheduler.MAX_FEATURES_AT_REST), screen=PictureTexture(renderer.device)
        )

    def begun(self: BackgroundDenoiser, film: Any, samples: int, noisy: NoisyPicture, draft: bool) -> None:
        preview = session.preview
        guides[samples] = preview._guide is preview._buffers["film"]
        begin(self, film, samples, noisy, draft)

    monkeypatch.setattr(BackgroundDenoiser, "begin", begun)
    run(session, 200)
    session.release()
    assert max(guides) == 2 * scheduler.MAX_FEATURES_AT_REST
    assert guides == {samples: samples >= scheduler.MAX_FEATURES_AT_REST for samples in guides}


def test_at_rest_it_is_the_picture_of_a_file(session: Session, renderer: Renderer) -> None:
    """Softened, with all that places and normals do not tell, as the edges of shadows."""
    renderer.update(denoise="shader")
    session.restart()
    run(session, 40)
    assert session.converged and session.samples == 4
    shown, saved = session.linear(), renderer.render(SIZE, spp=4, denoise="shader").linear
    assert np.abs(shown - saved).mean() < 0.13 * saved.mean()  # 0.108 measured, 0.28 where light is fitted alone


def test_a_picture_denoised_beside_is_dropped_by_the_hand(
    session: Session, renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is not kept waiting."""
    pytest.importorskip(oidn.PACKAGE)
    ends, denoised, start = threading.Event(), NoisyPicture.denoised, renderer.camera
    monkeypatch.setattr(NoisyPicture, "denoised", lambda self, draft: ends.wait(30) and denoised(self, draft))
    while session.preview.background.free:
        session.advance(0.01)
    assert session.on_screen.denoiser == "shader" and not session.idle
    session.update(camera=aside(renderer, 20.0))
    run(session, moving=True)
    moved = session.linear()
    ends.set()
    session.preview.background.wait(30)
    session.advance(0.0, moving=True)
    np.testing.assert_array_equal(session.linear(), moved)
    begun, shown, begin, picture = [], [], BackgroundDenoiser.begin, session.on_screen.picture
    monkeypatch.setattr(BackgroundDenoiser, "begin", lambda self, *given: begun.append(given[1]) or begin(self, *given))
    monkeypatch.setattr(session.on_screen, "picture", lambda *given: shown.append(given[1:]) or picture(*given))
    run(session, 40)
    assert [samples for denoiser, samples in shown if denoiser == "oidn"] == begun
    assert session.on_screen.samples == begun[-1] == session.samples == 4
    session.update(camera=start)


def test_without_open_image_denoise_the_other_denoiser_stays(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it fails, as without a library of the system's; by its name that is an error."""

    def fails(self: NoisyPicture, draft: bool) -> Any:
        raise ViewerError("--denoise oidn", "fails")

    pytest.importorskip(oidn.PACKAGE)
    monkeypatch.setattr(NoisyPicture, "denoised", fails)
    run(session, 40)
    assert session.converged and session.idle and session.on_screen.denoiser == "shader"
    session.update(denoise="oidn")
    with pytest.raises(ViewerError, match="fails"):
        run(session, 40)


def test_a_camera_that_has_moved_has_features_of_its_own(session: Session, renderer: Renderer) -> None:
    run(session, 20)
    before, camera = session.linear(), renderer.camera
    aside = np.add(camera.origin, 0.05 * np.subtract(camera.target, camera.origin)[[2, 1, 0]] * (1, 0, 0))
    session.update(camera=replace(camera, origin=tuple(aside)))
    run(session, 20)
    moved, film = session.linear(), session.film()
    session.update(camera=camera)
    assert film is not None
    lamp = film.linear[..., 0] > 2  # is where the film has it, which is not where it was
    assert lamp.any()
    # At the lamp's edge more camera rays than the film's samples tell how much of a pixel it covers.
    around = [np.roll(lamp, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)]
    inside = np.all(around, axis=0) == np.any(around, axis=0)
    np.testing.assert_array_equal((moved[..., 0] > 2)[inside], lamp[inside])
    assert np.abs(moved - before).max() > 0.5


def aside(renderer: Renderer, by: float) -> Camera:
    """The renderer's camera, moved to its right."""
    camera = renderer.camera
    shift = by * camera.basis()[0]
    return replace(camera, origin=tuple(camera.origin + shift), target=tuple(camera.target + shift))


def flown(session: Session, renderer: Renderer, pictures: int, reprojects: bool) -> list[np.ndarray]:
    """Pictures of a camera that moves to its right, of a light of 24 x 18 pixels drawn up to all of them."""
    preview, start = session.preview, renderer.camera
    assert preview is not None
    preview.reprojects = reprojects
    shown = []
    for _ in range(pictures):
        rate = 460 / (preview.light * IN_FLIGHT)
        session.scheduler.light.rate, session.scheduler.light.scale = rate, 0.375  # whatever the machine's speed
        session.scheduler.upsampled.rate, session.scheduler.upsampled.scale = 1e9, 1.0
        session.update(camera=aside(renderer, 2.0))
        run(session, moving=True)
        assert session.shown is not None and session.shown[1] == (24, 18)
        shown.append(session.linear())
    session.update(camera=start)
    preview.reprojects = True
    return shown


def always(session: Session, queued: bool, drawn: bool, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Have all pictures of a moving camera queued, or none, and their features drawn, or found by rays; gives a list
    that grows by whether each was queued."""
    run(session, moving=True)  # compiles
    preview, made = session.preview, list[bool]()
    assert preview is not None
    monkeypatch.setattr(scheduler, "MAX_MERGED_SECONDS", 1.0)
    monkeypatch.setattr(gbuffer, "rasterises", lambda triangles, pixels: drawn)
    monkeypatch.setattr(
        session.scheduler.queue,
        "note",
        lambda *_: setattr(session.scheduler.queue, "since", 0 if queued else TIMED_EVERY),
    )
    session.scheduler.queue.note(0.0, True)
    picture = preview._picture
    monkeypatch.setattr(preview, "_picture", lambda job, *rest: made.append(job.frame.queued) or picture(job, *rest))
    flown(session, session.renderer, 2, True)  # type: ignore[arg-type]  # pictures that show the size of things
    preview.gbuffer.pictures = 0
    return made


@pytest.mark.parametrize("drawn", [True, False])
def test_queued_pictures_are_those_that_are_made_pass_by_pass(
    renderer: Renderer, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = []
    for queued in (True, False):
        with renderer.device.current():
            session = Session(renderer, SIZE, Stop(4), screen=PictureTexture(renderer.device))
            made = always(session, queued, drawn, monkeypatch)
            pictures.append(flown(session, renderer, 4, True))
            assert made[-4:] == 4 * [queued]
            assert (session.preview.gbuffer.pictures > 0) == drawn
            session.release()
    for queued_one, timed in zip(*pictures, strict=True):
        np.testing.assert_array_equal(queued_one, timed)


def test_pictures_of_a_moving_camera_keep_what_those_before_have_shown(session: Session, renderer: Renderer) -> None:
    session.advance(0.0, True)  # a preview that shows the size of things
    run(session, moving=True)
    change = {}
    for reprojects in (False, True):
        shown = flown(session, renderer, 10, reprojects)
        # the back wall, which moves by a tenth of a pixel from picture to picture
        walls = np.array([picture[16:24, 26:38].mean(axis=-1) for picture in shown[5:]])
        change[reprojects] = np.abs(np.diff(walls, axis=0)).mean() / walls.mean()
    # 0.4 of it, measured: new samples change a picture by a share of 1 / 10 and less
    assert change[True] < 0.6 * change[False]


def test_between_two_pictures_the_last_one_follows_the_camera(
    session: Session, renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "WARPING", 0.0)  # whatever the machine's speed
    monkeypatch.setattr(scheduler, "COSTLY", 0.0)
    monkeypatch.setattr(scheduler, "MAX_WARP_DISTANCE", 0.5)
    run(session, 20)
    before, start, pictures = session.linear(), renderer.camera, session.pictures
    for number in range(1, 4):
        session.update(camera=aside(renderer, 20.0))
        session.advance(0.0, moving=True)
        assert session.pictures == pictures and session.warped == number
        assert session.shown == (renderer.camera, SIZE)
    warped = session.linear()
    session.update(camera=aside(renderer, 1.0))
    session.advance(0.0, moving=True)
    assert session.warped == scheduler.MAX_WARPS  # the next one's turn
    run(session, moving=True)
    session.advance(0.0, moving=True)
    assert session.shown is not None and session.shown[0] == renderer.camera
    waiting = session.warped  # of a camera that stands still, or at rest, nothing is
    run(session, 20)
    assert session.warped == waiting and session.converged
    moved, lamp = session.linear(), 2.0
    session.update(camera=start)
    # The lamp is where it is seen from there: but for what the margin hides, and a pixel's part of its edges.
    assert ((before[..., 0] > lamp) != (moved[..., 0] > lamp)).sum() > 2 * (
        (warped[..., 0] > lamp) != (moved[..., 0] > lamp)
    ).sum()


def test_from_far_away_nothing_is_warped(session: Session, renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would show what the last picture has not seen; so the next one is quicker."""
    monkeypatch.setattr(scheduler, "WARPING", 0.0)
    monkeypatch.setattr(scheduler, "COSTLY", 0.0)
    start = renderer.camera
    for degrees, budget in ((0.1, scheduler.IN_FLIGHT), (40.0, scheduler.DENOISED)):
        run(session, 20)
        warped = session.warped
        session.update(camera=aside(renderer, degrees))
        session.advance(0.0, moving=True)
        assert session.job is not None and session.job.frame.budget == budget
        assert session.warped - warped == (budget == scheduler.IN_FLIGHT)
        session.update(camera=start)


def test_an_edited_scene_is_not_warped(session: Session, renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was seen of the one before would stay where it was."""
    monkeypatch.setattr(scheduler, "WARPING", 0.0)
    monkeypatch.setattr(scheduler, "COSTLY", 0.0)
    run(session, 20)
    scene = renderer.scene
    matrix = scene.instances[0].transform.copy()
    matrix[0, 3] += 10.0
    session.update(scene.moved(np.array([0]), matrix[None]), camera=aside(renderer, 5.0))
    session.advance(0.0, moving=True)
    assert session.warped == 0
    session.update(scene)


def test_previews_that_follow_each_other_take_other_samples(session: Session, renderer: Renderer) -> None:
    """Else what is kept from picture to picture has the noise of one sample."""
    numbers = []
    for _ in range(3):
        session.update(camera=aside(renderer, 1.0))
        session.advance(0.0, True)
        while not session.running:
            session.advance(0.0, True)
        numbers.append(session.job.first)
        assert session.job.frame.kind.in_motion
        run(session, moving=True)
        assert not session.complete  # whatever its size: at rest the film begins anew
    assert len(set(numbers)) == 3


def test_after_a_flight_the_converged_picture_is_of_its_own_samples(session: Session, renderer: Renderer) -> None:
    """Film and picture: nothing is left of what was seen on the way."""
    run(session, 20)
    film, shown = session.film(), session.linear()
    start = renderer.camera
    session.update(camera=aside(renderer, 50.0))
    run(session, moving=True)
    session.update(camera=start)
    run(session, moving=True)
    while not session.complete:  # on a busy machine a preview comes first at rest, too
        run(session, 1)
    assert session.samples < 4
    run(session, 20)
    again = session.film()
    assert session.converged and film is not None and again is not None
    np.testing.assert_array_equal(again.linear, film.linear)
    np.testing.assert_array_equal(session.linear(), shown)


def test_where_light_is_another_nothing_is_kept(renderer: Renderer) -> None:
    """Which changes a picture before is still good after."""
    before, were = renderer.prepared, renderer.settings

    def now(scene: Any = None, **options: Any) -> Changes | None:
        renderer.update(scene, **options)
        found = changes(before, were, renderer.prepared, renderer.settings)
        renderer.update(before.given, settings=were)
        return found

    assert now(fov=30.0) == Changes([], True, False)
    assert now(machine="multipass") == Changes([], True, False)
    for another in ({"seed": 3}, {"depth": 2}, {"clamp": 3.0}, {"sampler": "independent"}, {"environment": "sky"}):
        assert now(**another) is None
    relit = now(environment_rotation=30.0)
    assert relit is not None and relit.relit
    place = np.array(before.scene.instances[0].transform)
    place[:3, 3] += (0.5, 0, 0)
    found = now(before.scene.moved(np.array([0]), place[None]))
    assert found is not None and len(found.moved) == 1
    first, end, matrix = found.moved[0]
    assert (first, end) == (0, before.starts[1])
    np.testing.assert_allclose(matrix @ (0.5, 0, 0, 1), (0, 0, 0, 1), atol=1e-12)
