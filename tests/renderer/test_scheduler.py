"""The scheduler without OpenGL: frames of machines from a tenth to a thousand times as fast as a small one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raystream.renderer.preview.scheduler import (
    FIRST_RUNG,
    IN_FLIGHT,
    LIGHT,
    MAX_WARPS,
    RUNGS,
    SMALLER,
    WARPING,
    WIDER,
    DisplayState,
    FrameKind,
    Progress,
    ScheduledFrame,
    Scheduler,
    rasterises,
)

SIZE = (960, 540)
PIXELS = SIZE[0] * SIZE[1]
RATE = 1e5  # samples a second: of two cores
SPEEDS = (0.1, 1.0, 10.0, 100.0, 1000.0)
DENOISED = DisplayState(SIZE, Progress.STALE, most=1024, light=LIGHT, warps=True)


class Simulated:
    """A machine whose samples cost all the same. seconds : so far."""

    def __init__(self, speed: float) -> None:
        self.scheduler, self.rate, self.seconds = Scheduler(), RATE * speed, 0.0
        self.scheduler.reset(128)

    def frame(self, display: DisplayState) -> ScheduledFrame:
        """The next frame, once it is done."""
        frame = self.scheduler.next(display, 0.03)
        seconds = frame.pixels * frame.added / self.rate
        self.scheduler.note_frame(frame, seconds)
        self.seconds += seconds
        return frame

    def flown(self) -> ScheduledFrame:
        """The last frame of a flight."""
        return [self.frame(replace(DENOISED, progress=Progress.MOVING)) for _ in range(40)][-1]

    def rungs(self, last: ScheduledFrame) -> list[ScheduledFrame]:
        """Those after the hand rests, up to the film's first sample."""
        found = [last]
        while found[-1].kind.preview:
            found.append(self.frame(replace(DENOISED, progress=Progress.PREVIEW, scale=found[-1].scale)))
        return found[1:]


@pytest.mark.parametrize("speed", SPEEDS)
def test_in_flight_light_takes_its_share_of_the_time(speed: float) -> None:
    machine = Simulated(speed)
    last = machine.flown()
    seconds = last.pixels * last.added / machine.rate
    assert last.kind is FrameKind.FLIGHT and (seconds <= 1.2 * LIGHT * IN_FLIGHT or last.scale == SMALLER[-1])
    larger = min(1.0, last.scale * 2**0.5)
    assert last.scale == 1 or larger**2 * PIXELS / machine.rate > LIGHT * IN_FLIGHT


@pytest.mark.parametrize("speed", SPEEDS)
def test_at_rest_rungs_lead_to_the_whole_size(speed: float) -> None:
    machine = Simulated(speed)
    last = machine.flown()
    began = machine.seconds
    frames = machine.rungs(last)
    scales = [last.scale, *(frame.scale for frame in frames)]
    assert scales[-1] == 1 and not frames[-1].kind.preview and frames[-1].kind is FrameKind.FIRST
    for before, frame in zip(scales, frames[:-1], strict=False):
        assert frame.kind is FrameKind.RUNG and frame.scale in RUNGS and frame.scale >= WIDER * before
    film = PIXELS / machine.rate
    assert machine.seconds - began - film <= 0.36 * film  # all rungs together
    assert len(frames) == 1 or film > FIRST_RUNG  # else the film's first sample is there before a rung would be


@pytest.mark.parametrize(("speed", "scales"), [(1.0, [0.25, 0.5, 1.0]), (4.0, [0.25, 0.5, 1.0]), (8.0, [0.5, 1.0])])
def test_no_rung_is_left_out_that_takes_long(speed: float, scales: list[float]) -> None:
    machine = Simulated(speed)
    machine.scheduler.light.note(RATE * speed)
    frames = machine.rungs(ScheduledFrame(FrameKind.FLIGHT, SIZE, 0.1, 1, 1))
    assert [frame.scale for frame in frames] == scales
    assert len(scales) == 3 or frames[0].pixels / machine.rate <= FIRST_RUNG


def test_what_is_not_denoised_has_no_rungs() -> None:
    scheduler = Scheduler()
    frame = scheduler.next(replace(DENOISED, light=1.0, progress=Progress.PREVIEW, scale=0.1), 0.03)
    assert frame.scale == 1 and not frame.kind.preview


def test_a_flight_that_ends_on_a_fast_machine_keeps_its_light() -> None:
    """The first frame at rest is one more of the flight's, not a film of one sample."""
    machine = Simulated(1000.0)
    assert machine.flown().scale == 1
    first = machine.frame(DENOISED)
    assert first.kind is FrameKind.FLIGHT and first.scale == 1
    assert machine.frame(replace(DENOISED, warps=False)).kind is FrameKind.PREVIEW  # nothing is on show


def test_samples_are_added_by_budgets_of_time() -> None:
    for speed in SPEEDS:
        machine, on_show = Simulated(speed), replace(DENOISED, progress=Progress.WHOLE, samples=1)
        for _ in range(20):
            frame = machine.frame(on_show)
            on_show = replace(on_show, samples=frame.samples)
        seconds = frame.pixels * frame.added / machine.rate
        assert frame.added == 1 or seconds <= 1.05 * machine.scheduler.batches.seconds


def test_a_picture_is_warped_some_times_and_not_from_afar() -> None:
    scheduler = Scheduler()
    assert not scheduler.warps(1, WARPING / 2, 0.0) and not scheduler.warps(1, 1.0, 1.0)
    for _ in range(MAX_WARPS):
        assert scheduler.warps(1, WARPING, 0.0)
        scheduler.note_warp(1, 0.001)
    assert not scheduler.warps(1, 1.0, 0.0) and scheduler.warps(2, WARPING, 0.0)
    scheduler.note_warp(2, 1.0)
    assert not scheduler.warps(2, 1.9, 0.0) and scheduler.warps(2, 2.1, 0.0)  # half of the time at most


def test_another_denoiser_adds_no_samples() -> None:
    """The film that is there is filtered anew, whatever time there is."""
    scheduler = Scheduler()
    again = replace(DENOISED, progress=Progress.UNFILTERED, samples=7)
    assert scheduler.next(again, 10.0) == ScheduledFrame(FrameKind.REFILTER, SIZE, 1.0, 7, 0)
    assert scheduler.next(replace(again, progress=Progress.WHOLE), 10.0).added > 0


def test_scenes_of_few_triangles_are_rasterised() -> None:
    """For the pixels of the window: a hall in a usual one, a dragon in a large one."""
    assert rasterises(146_342, 960 * 540) and not rasterises(146_342, 320 * 180)
    assert rasterises(871_414, 1920 * 1080) and not rasterises(871_414, 960 * 540)


def test_kernel_by_kernel_a_run_has_many_samples() -> None:
    """Its passes are as many for one as for some; what the rules leave of the time is kept to."""
    scheduler = Scheduler(interactive=False)
    on_show = DisplayState(SIZE, Progress.WHOLE, most=64)
    scheduler.note_frame(ScheduledFrame(FrameKind.FIRST, SIZE, 1.0, 1, 1), 10.0)
    assert scheduler.next(on_show, 1.0).added == 1
    assert scheduler.next(replace(on_show, stepwise=True), 1.0).added == 16
    assert scheduler.next(replace(on_show, stepwise=True, seconds_left=40.0), 1.0).added == 4
    assert Scheduler().next(replace(on_show, stepwise=True), 1.0).added == 1


def test_kernel_by_kernel_nothing_stands_before_what_grows() -> None:
    """At rest the first frame is the film's first sample; in motion a preview that does not take minutes."""
    on_show = DisplayState(SIZE, Progress.STALE, most=1024, stepwise=True)
    first = Scheduler().next(on_show, 0.03)
    assert (first.size, first.samples, first.kind.preview) == (SIZE, 1, False)
    assert Scheduler().next(replace(on_show, light=LIGHT), 0.03).kind.preview, "where it is denoised, it is not seen"
    moving = Scheduler().next(replace(on_show, progress=Progress.MOVING), 0.03)
    assert moving.kind.preview and moving.scale < 0.2
