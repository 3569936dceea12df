"""Flight by keys: its speed and its way against closed forms, whatever the frame rate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hand import BOX, START, eye, settle, target

from viewer.scene.camera import Camera
from viewer.viewport.controls.camera_controller import Flight
from viewer.viewport.controls.thrust import FAST, GLIDE, MOTIONS, SLOW


@pytest.fixture
def flight() -> Flight:
    return Flight(START, BOX)


def test_flight_covers_exactly_its_speed(flight: Flight) -> None:
    assert flight.natural_speed == flight.speed == math.dist(*BOX) / 4
    flight.speed = 1.75
    right, _, forward = START.basis()
    world_up = np.array([0.0, 1.0, 0.0])
    ways = {
        ("forward",): forward,
        ("back",): -forward,
        ("left",): -right,
        ("right",): right,
        ("up",): world_up,
        ("down",): -world_up,
        ("forward", "right"): (forward + right) / math.sqrt(2),
        ("forward", "up"): (forward + world_up) / np.linalg.norm(forward + world_up),
    }
    for keys, way in ways.items():
        for pace, factor in ((None, 1.0), ("fast", FAST), ("slow", SLOW)):
            flight.set_camera(START)
            for key in (*keys, *([pace] if pace else [])):
                flight.press(key)
                flight.press(key)  # the keyboard repeats
            flight.update(40 * GLIDE)  # e^-40 is below a rounding
            before = eye(flight)
            assert flight.update(0.5) and flight.moving
            np.testing.assert_allclose(eye(flight) - before, 1.75 * factor * 0.5 * way, atol=1e-12)
            np.testing.assert_allclose(target(flight) - eye(flight), np.subtract(START.target, START.origin), atol=1e-9)
            flight.release_all()


@pytest.mark.parametrize("dt", [1 / 240, 1 / 60, 1 / 30, 0.1, 0.7])
def test_taking_up_speed_follows_the_closed_form(flight: Flight, dt: float) -> None:
    flight.speed = 2.0
    flight.press("forward")
    forward = START.basis()[2]
    for k in range(1, 9):
        flight.update(dt)
        t = k * dt
        way = 2.0 * (t - GLIDE * (1 - math.exp(-t / GLIDE)))
        np.testing.assert_allclose(eye(flight) - START.origin, way * forward, atol=1e-12)


def play(dt: float) -> tuple[list[Camera], Flight]:
    """A session with keys, looks, wheel, focus and Home on a time table of thirtieths; a camera each tenth."""
    flight = Flight(START, BOX)
    script = {
        0: lambda: flight.press("forward"),
        6: lambda: (flight.press("left"), flight.look(40, -10)),
        12: lambda: (flight.press("fast"), flight.wheel(2, flight.direction(1, 1, 9, 9))),
        15: lambda: flight.look(-20, 30),
        18: lambda: (flight.release("forward"), flight.wheel(-1)),
        21: lambda: flight.release_all(),
        24: lambda: flight.wheel(1),
        30: lambda: flight.focus((1.0, 0.5, 0.25)),
        36: lambda: flight.press("up"),
        48: lambda: flight.frame_all(1.5),
        60: lambda: flight.release("up"),
    }
    cameras = []
    for k in range(0, 90):
        if k in script:
            script[k]()
        for _ in range(round(1 / 30 / dt)):
            flight.update(dt)
        if k % 3 == 2:
            cameras.append(flight.camera)
    return cameras, flight


def test_the_path_does_not_depend_on_the_frame_rate() -> None:
    slow, last = play(1 / 30)
    for dt in (1 / 240, 1 / 120):
        fast, _ = play(dt)
        for a, b in zip(slow, fast, strict=True):
            # When easing ends the rest of the way is taken at once: at most AT_REST * 4 speed * GLIDE = 1.6e-3 units
            # of flight (speed 1.35) or ZOOM_REST = 0.2 % of 8 units before the target, and earlier at a high rate.
            np.testing.assert_allclose(a.origin, b.origin, atol=0.02)
            np.testing.assert_allclose(a.basis(), b.basis(), atol=1e-9)
        # The place of rest is the same; what is left are roundings of about 500 updates.
        np.testing.assert_allclose(slow[-1].origin, fast[-1].origin, atol=1e-9)
        np.testing.assert_allclose(slow[-1].target, fast[-1].target, atol=1e-9)
    assert not last.moving
    assert max(math.dist(c.origin, START.origin) for c in slow) > 2  # it went somewhere


def test_flight_comes_to_rest_soon(flight: Flight) -> None:
    flight.press("fast")
    assert not flight.moving or flight.update(0)
    assert not flight.moving  # Shift alone moves nothing
    flight.press("forward")
    flight.update(1.0)
    flight.release("forward")
    frames = 0
    while flight.moving:
        flight.update(1 / 60)
        frames += 1
    assert 6 < frames < 30  # glides, and the picture can sharpen within half a second
    resting = flight.camera
    assert not flight.update(1.0) and flight.camera is resting


def test_opposite_keys_rest(flight: Flight) -> None:
    flight.update(0)
    flight.press("forward")
    flight.press("back")
    assert not flight.moving and not flight.update(1.0)


def test_keys_are_let_go_when_the_focus_is_lost(flight: Flight) -> None:
    for motion in (*MOTIONS, "fast", "slow"):
        flight.press(motion)
    flight.release("back")
    flight.update(0.5)
    flight.release_all()
    settle(flight)
    assert not flight.moving
    before = eye(flight)
    flight.update(10.0)
    np.testing.assert_array_equal(eye(flight), before)
    with pytest.raises(ValueError, match="sideways"):
        flight.press("sideways")


def test_the_wheel_sets_the_speed_in_flight(flight: Flight) -> None:
    flight.update(0)
    flight.toggle_mode()
    assert flight.mode == "fly"
    speed = flight.speed
    flight.wheel(2, START.basis()[2])
    assert flight.speed == pytest.approx(1.44 * speed)
    flight.wheel(-2)
    assert flight.speed == pytest.approx(speed)
    assert flight.camera is START and not flight.moving
    flight.wheel(1e9)
    flight.wheel(1e9)
    assert flight.speed == pytest.approx(1e4 * flight.natural_speed)
    flight.set_bounds(BOX * 3)
    assert flight.speed == pytest.approx(1e4 * flight.natural_speed)
    flight.toggle_mode()
    assert flight.mode == "orbit"
