"""Light in the window: samples add up to the renderer's picture, with its effects and under a dropped environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import raystream
from raystream.film.files import image
from raystream.renderer.renderer import Renderer
from tests.window.conftest import SMALL, Hands
from tests.window.traced_pictures import rendered, settle

# -- samples -----------------------------------------------------------------------------------------------------------


def test_samples_add_up_to_the_renderers_picture(traced: Callable[..., Hands]) -> None:
    """Bit for bit, after flying; then the loop sleeps."""
    hands = traced(samples=5)
    app = hands.app
    app.view.controller.press("forward")
    hands.turn(6)
    app.view.controller.release_all()
    picture = settle(hands)
    film = app.session.film()
    assert app.session.samples == 5 and film is not None and (film.count == 5).all()
    np.testing.assert_array_equal(picture, film.mean())
    np.testing.assert_array_equal(picture, rendered(app, 5, tile=False))
    assert app.session.error == pytest.approx(film.error(), rel=1e-5)  # sums in another order
    hands.turn(3)
    while app.view.awake:
        app.turn()
    assert app.session.idle and app.frame_loop.wait_timeout > 0.1


def test_it_stops_at_a_noise(traced: Callable[..., Hands]) -> None:
    hands = traced("teapotahedron", samples=4096, noise=0.05, size=(24, 16))
    settle(hands)
    session = hands.app.session
    assert session.error <= 0.05 and 16 <= session.samples < 4096
    before, wanted = session.samples, 0.8 * session.error
    session.stop_at(4096, wanted)  # what is there stays
    settle(hands)
    assert session.error <= wanted and session.samples > before


def test_more_samples_never_show_less(traced: Callable[..., Hands]) -> None:
    """While samples are added the picture is never darker or emptier: no flash."""
    hands = traced(samples=24)
    app, levels = hands.app, []
    app.session.restart()
    while not app.session.converged:
        app.turn()
        levels.append(float(app.session.linear().mean()))
    assert min(levels) > 0.6 * max(levels) > 0  # a preview of few samples is noisy
    assert app.session.samples == 24


def test_a_saved_picture_can_be_resumed(traced: Callable[..., Hands], place: Path) -> None:
    hands = traced(samples=2)
    app = hands.app
    settle(hands)
    hands.key("ctrl+s")
    hands.rest()
    path = place / "cornell_001.exr"
    renderer = Renderer(
        raystream.load("cornell"), device=app.device, machine="singlepass", camera=app.view.renderer.camera
    )
    more = renderer.render(SMALL, 4, resume=str(path))
    np.testing.assert_array_equal(more.linear, rendered(app, 4))
    assert image.read_exr(path) is not None


@pytest.mark.parametrize(
    ("program", "keys"), [("2", {"l": "shadows"}), ("3", {"l": "shadows", "r": "reflections", "b": "refractions"})]
)
def test_effects_are_a_key_away(traced: Callable[..., Hands], program: str, keys: dict[str, str]) -> None:
    """The keys compile nothing, and each leaves out what it names, and nothing else."""
    hands = traced("teapotahedron", samples=1, program="cast")  # of copper, glass and glaze
    app = hands.app
    hands.key(program)
    before = settle(hands)
    assert app.view.renderer.settings.program == {"2": "shadow", "3": "whitted"}[program]
    for key, effect in keys.items():
        compiled = app.device.compiled
        hands.key(key)
        left = {name: app.view.renderer.settings[name] for name in ("shadows", "reflections", "refractions")}
        assert left == {name: name != effect for name in left}
        after = settle(hands)
        assert (after != before).any() and app.device.compiled == compiled
        np.testing.assert_array_equal(after, rendered(app, 1, **{effect: "off"}))
        hands.key(key)
    np.testing.assert_array_equal(settle(hands), before)


# -- surroundings ------------------------------------------------------------------------------------------------------


def test_a_dropped_picture_surrounds_the_scene(traced: Callable[..., Hands], tmp_path: Path) -> None:
    """It shines as for ``raystream render --environment``; Shift and the right button turn it; J hides it."""
    random = np.random.default_rng(1)
    path = tmp_path / "around.exr"
    image.save(path, random.random((8, 16, 3)).astype(np.float32))
    hands = traced("teapotahedron")
    app = hands.app
    settle(hands)
    app.events.on_drop([str(path)])
    hands.until(lambda: app.view.environment.name == "around.exr")
    picture = settle(hands)
    np.testing.assert_array_equal(picture, rendered(app, environment=str(path)))
    compiled = app.device.compiled
    hands.drag(3, (30, 30), (60, 30), "Shift_L")
    turned = settle(hands)
    assert app.scene_loader.requested.environment_rotation != 0 and app.device.compiled == compiled
    given = {"environment": str(path), "environment_rotation": app.scene_loader.requested.environment_rotation}
    np.testing.assert_array_equal(turned, rendered(app, **given))
    hands.key("j")
    hands.until(lambda: app.view.environment.flux == 0)
    np.testing.assert_array_equal(settle(hands), rendered(app, environment="none"))  # its own lamp is left
    hands.key("j")
    hands.until(lambda: app.view.environment.flux > 0)
    np.testing.assert_array_equal(settle(hands), turned)
    app.events.on_drop([str(tmp_path / "missing.hdr")])
    hands.until(lambda: app.view.message.is_error)
    assert "missing.hdr" in app.view.message.text
    np.testing.assert_array_equal(settle(hands), turned)
