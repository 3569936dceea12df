"""The next computation of a session, and its size: by measured costs, and the picture on show.

Pure arithmetic: no OpenGL, no clock of its own. Seconds are budgets, sizes follow from them, so that a machine that is
a hundred times as fast has larger previews, not quicker ones. All constants of pace are here, the loops' around it too;
those of a single draw, which no driver may find too long, are the device's: `raystream.stream.gl.draw`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

# -- tiles: a window has to answer between two of them
SMALL, LARGE = (512, 128), (1024, 512)  # streams (width, height): of a software driver, and of a GPU; llvmpipe's
# threads share a tile's rays by squares of 64, of which eight rows of 256 rays have four, and one waits for the other
STEP = 0.018  # seconds that a step of a run may take: with a draw of the window it is a frame at 30 Hz
MAX_STEP = 0.03  # seconds that one may take where the picture is as dear as its dearest rows so far
FORGET = 0.8  # of what the dearest rows cost, from picture to picture
FIRST_ROWS = 16  # of a tile, before any has been timed
CALMING = 0.7  # of the seconds that a step is expected to take, from step to step
MIN_ROWS = 8  # fewer cost more beside their rays

# -- previews
DENOISED = 0.04  # seconds that a preview may take where it is denoised: fewer pictures, but ones that can be read
IN_FLIGHT = 0.12  # seconds that a preview may take where the one before is warped to the camera meanwhile
SCALES = tuple(2 ** (-k / 4) for k in range(13))  # of the picture's width and height, while the camera moves
SMALLER = (*SCALES, 2**-3.25, 2**-3.5)  # and where light is kept from picture to picture, and upsampled
FITTING = (0.6, 1.1)  # a preview may take this much of its budget before another scale is chosen
SMOOTHING = 0.4  # weight of the newest picture in a rate
FIRST_RATE = 1e6  # samples a second, before any has been seen
STEPWISE_RATE = 5e3  # and kernel by kernel
PHOTON_PART = 4  # a part of the photons follows what moves: all of them would hold it up
SHORT_PATHS = 2  # surfaces from which on chance may end a path: short ones give more pixels in the same time
MAX_MERGED_PIXELS = 1 << 14  # pixels of a film whose passes are one step: to wait for each costs more than they do
MAX_MERGED_SECONDS = 0.05  # seconds that such a step may take
QUICK = (1024, 16)  # streams (width, height) of such a film: llvmpipe's threads share few rays by tiles of 64 columns
TIMED_EVERY = 16  # pictures of a moving camera: the passes of the others are queued, which tells no times
SLOWER = 1.5  # times as long as the last one that was timed: the next one is timed, too

# -- at rest: rungs before the film's first sample, of which both cost a third
RUNGS = (0.25, 0.5)  # of the picture's width and height
FIRST_RUNG = 0.25  # seconds: the largest rung ahead that takes no longer is next; where none does, the smallest
RUNG_RAYS = 2  # camera rays of a rung's pixel; its edges are smooth by those of its neighbours, see softening.glsl
WIDER = 1.25  # times as wide as what is on show is a rung at least: what is less is hardly seen

# -- upsampling of a preview's light
FIRST_CAMERA_RATE = 2e6  # camera rays a second, and pixels upsampled, before any have been seen
LIGHT = 0.5  # of a preview's time, for the light; the rest is for the picture that it is upsampled to
LIGHT_OF_RASTERISED = 0.25  # and where features are rasterised, whose price does not fall with the picture's size
MIN_RASTERISED_SCALE = 0.5  # of the window's width a preview has at least where its features are rasterised
FINER = 2.0  # times as wide as its light is a preview at least: what it costs is then always known

# -- rasterising: a triangle costs as much as a camera ray, 0.25 us of CPU time, and a pixel of it a third; with one for
# each pixel both ways take about the same time, and a forest of two a pixel takes a quarter of it by rays
RASTERISED_TRIANGLES = 1.0  # of a scene for each pixel of the window, at most; of those with more features are cast

# -- warping: the last picture as the camera sees it by now, until the next one is complete
WARPING = 0.03  # seconds after which a picture is warped: 30 pictures a second
MAX_WARPS = 3  # pictures for each one that is traced, or a slow machine would do nothing else
# Of the scene's diagonal: beyond, too much is seen that the picture does not show. Hall, FLIP of that picture and of it
# warped: 0.29, 0.23 at 0.01; 0.37, 0.26 at 0.02; at 0.04 (0.41, 0.34) its borders are streaks.
MAX_WARP_DISTANCE = 0.02
COSTLY = 2.0  # times as long as it takes: no more than half of the time is for warping

# -- samples of a film
MAX_SAMPLES_IN_RUN = 16  # samples of a pixel that are added at a time: many keep passes full
# Of what the pictures before have told, one in motion keeps as much: at seven tenths of the width the bunny in flight
# is as good as of 2 samples at rest (FLIP 0.027, 0.029), and better than of one (0.034, by Open Image Denoise 0.044).
HISTORY_WEIGHT = 0.75
GROWTH = 1.33  # times as many samples as last time, before a picture at rest is denoised again
OIDN_GROWTH = 2.0  # and by Open Image Denoise, which costs more: as many samples have a third less noise
# Seconds of processor time for a pixel that Open Image Denoise takes (AMD EPYC): 0.8 s for 480 x 270. Its small network
# takes 0.34 s, for a FLIP of 0.094 in place of 0.087 (glass, 1 sample), 0.025 in place of 0.018 (helmet, 16): it serves
# until the samples have taken as long.
OIDN_SECONDS = 6.2e-6
BEHIND_OTHERS = 5  # nice value of its thread: it has a quarter of a core that both want, so that the hand is answered
# Samples whose features are worth their time, and at rest, four times as many as the film's: edges that few camera rays
# leave dotted stay so, however clean the light is.
MAX_FEATURE_SAMPLES, MAX_FEATURES_AT_REST, FEATURES_AHEAD = 16, 32, 4
MAX_EMITTER_SAMPLES = 64  # and whose lamps are told from the light on surfaces, before Open Image Denoise
SETTLED = 4  # samples of a picture at rest, from which on there is time to compile for the next flight
COMPILED = 0.02  # seconds of compiling, after which a window's turn ends
POLL_COMPILING = 0.004  # seconds between two questions whether the driver's threads have compiled
MAX_COMPILE = 2.0  # seconds: what takes longer is not compiled once more, for pictures of a moving camera alone

# -- who waits at a command line
NOISE_AFTER = 5.0  # seconds before the noise is estimated where no rule asks for it: that compiles a shader

# -- the loop of a window: events, motion, tracing, a draw
TURN = 1 / 32  # seconds between two looks at the events, so that the window answers within 50 ms at 30 frames/s
MIN_TRACING = 0.008  # seconds in a turn, however long a draw takes
MAX_TURN = 0.1  # seconds: a longer pause is no flight
HELD = 0.15  # seconds that a drag may rest before the full picture is begun
LOOKS_WHILE_HELD = 8  # at the events in that time
DRAWING = 1 / 3  # of the time is for draws, at most: the rest is the picture's
FIRST_DRAW = 0.015  # seconds of a draw, before any has been seen
SMOOTHED_DRAWS = 0.2  # weight of the newest draw in the cost of draws
DRAWN_FILLING, DRAWN_REFINING = 0.07, 0.2  # seconds between two draws while tiles appear, and while none do
DRAWN_LOADING = 0.1  # seconds between two draws of the progress of loading
DRAWN_HEAT = 0.2  # seconds between two pictures of a heat map that is being made: each is uploaded as a whole
METERED = 0.25  # seconds between two looks of the light meter at a picture that goes on: each is read back
UPLOADING = 0.008  # seconds of uploading a scene in a turn
# Seconds that panels wait for a first picture, which would come a tenth of its time later behind them: a longer one is
# felt as a wait (J. Nielsen, "Usability Engineering", 1993, 5.5), and panels tell how far it is.
PANELS = 1.0
HANDOVER = 0.25  # seconds that a loading thread waits until what it has found is shown: both would run half as fast
POLL = 0.001  # seconds until the loop looks again whether the device is done
ASLEEP = 0.5  # seconds that the loop may sleep with nothing to do: it looks for changed shader files

# -- pictures as bitmaps, on a page: each is encoded and sent
PIECE = 0.03  # seconds of tracing, between two events of the page
SENT_FILLING = 0.1  # seconds between two while the full picture is filled in
SENT_REFINING, SENT_AT_LAST = 0.4, 4.0  # and while it gets more samples, at least and at most, so that each shows
SENT_GROWTH = 1.15  # times the samples of the one before: 7 % less noise


def stream_shape(software: bool) -> tuple[int, int]:
    """(width, height) of the streams that serve pictures of every size: a GPU needs more rays to be busy."""
    return SMALL if software else LARGE


def feature_samples(samples: int, at_rest: bool) -> int:
    """Camera rays of a pixel whose features guide the reconstruction of a picture of ``samples``."""
    return min(FEATURES_AHEAD * samples, MAX_FEATURES_AT_REST) if at_rest else min(samples, MAX_FEATURE_SAMPLES)


def light_in_motion(before: float, scale: float, samples: int) -> float:
    """Samples at rest that are worth as much as a picture in motion, an estimate of its error. before : of the one
    before it, where that is its history; else 0. scale : of its width, of its light."""
    return scale**2 * samples + HISTORY_WEIGHT * before


def shows(samples: int, on_show: float, last: bool) -> bool:
    """Whether the first picture at rest is shown: no picture is worse than the one before it. on_show : see
    `light_in_motion`. ``last``: it will not have more samples soon."""
    return last or samples >= on_show


def cleans(samples: int, before: int, last: bool, draft: bool = False) -> bool:
    """Whether a film at rest is worth Open Image Denoise. before : samples when it was denoised so; 0: never. ``last``:
    it will not have more soon. ``draft``: that was by the smaller network."""
    return draft or samples > before if last else samples >= max(1, OIDN_GROWTH * before)


def drafts(samples: int, rate: float, last: bool) -> bool:
    """Whether Open Image Denoise takes its smaller network for a film of ``samples``, at ``rate`` samples a second.
    ``last``: it will not have more soon."""
    return not last and samples < OIDN_SECONDS * rate


def near(distance: float) -> bool:
    """Whether a picture can be warped to a camera at that distance from its own, as a share of the scene's diagonal."""
    return distance <= MAX_WARP_DISTANCE


def rasterises(triangles: int, pixels: int) -> bool:
    """Whether the features of a scene are rasterised, in a window of that number of pixels."""
    return triangles <= RASTERISED_TRIANGLES * pixels


@dataclass(frozen=True)
class Batches:
    """How samples are added: the seconds that a run may take, how many times more of them than last time, and the
    weight of the last picture in the rate."""

    seconds: float
    growth: int
    smoothing: float


INTERACTIVE = Batches(0.1, 2, SMOOTHING)  # no step takes much longer than the one before
HEADLESS = Batches(2.0, MAX_SAMPLES_IN_RUN, 1.0)
# Kernel by kernel a run's passes are short and many, and as many for a sample as for some: the last rays have them to
# themselves.
KERNEL_BY_KERNEL = Batches(240.0, MAX_SAMPLES_IN_RUN, 1.0)


class TileRows:
    """Chooses the rows of the next tile by the slowest step of the last one, with room for dearer rows.

    The rows below cost about the same, until the sky ends and the trees begin: no tile is made so large that it
    would take `MAX_STEP` if its rows were the dearest seen.

    expected : seconds that the next step may take: as many as the last ones, of which one may have been an exception.
    """

    def __init__(self, max_rows: int) -> None:
        self.max_rows = max_rows
        self.rows = min(FIRST_ROWS, max_rows)
        self._slowest = self.expected = 0.0
        self._before = self._dearest = 0.0  # seconds of a step for each row: of the last tile, and of the dearest

    def note(self, seconds: float) -> None:
        """A step of the tile in progress took so long."""
        self._slowest = max(self._slowest, seconds)
        self.expected = max(seconds, CALMING * self.expected)

    def forget(self) -> None:
        """A picture is complete: the next may be cheaper."""
        self._dearest *= FORGET

    def next(self) -> int:
        """Rows of the next tile."""
        if self._slowest > 0:
            row_seconds = self._slowest / self.rows
            # Two in a row: a busy machine stops a step now and then.
            self._dearest = max(self._dearest, min(row_seconds, self._before))
            self._before = row_seconds
            # A busy machine stops a step now and then: that is no reason to go down to the least at once.
            target = self.rows * min(2.0, max(0.25, STEP / self._slowest))
            if self._dearest:
                target = min(target, MAX_STEP / self._dearest)
            self.rows = max(min(MIN_ROWS, self.max_rows), min(self.max_rows, int(target)))
            self._slowest = 0.0
        return self.rows


class PreviewScale:
    """Chooses the scale of previews by the rate of the last ones: samples a second, None before the first."""

    def __init__(self) -> None:
        self.rate: float | None = None
        self.scale = SCALES[0]

    def choose(self, pixels: int, budget: float, rate: float, scales: Sequence[float] = SCALES) -> float:
        """The largest of the scales whose preview fits ``budget`` seconds at the speed seen so far (without previews
        ``rate``); the last one if it about fits, since a change of scale shimmers."""
        rate = self.rate or rate
        share = pixels * self.scale**2 / (rate * budget)
        least, most = FITTING if self.scale < 1 else (0.0, FITTING[1])
        if self.rate is None or not least <= share <= most:
            self.scale = next((s for s in scales if pixels * s * s <= rate * budget), scales[-1])
        return self.scale

    def note(self, rate: float) -> None:
        """A preview was traced at this rate, samples a second."""
        self.rate = rate if self.rate is None else self.rate + SMOOTHING * (rate - self.rate)

    def forget(self) -> None:
        """Another program or scene: the rate is not known."""
        self.rate = None


@dataclass
class QueuedFrames:
    """Which pictures of a moving camera are timed, pass by pass; those in between are queued.

    since : pictures since the last one that was timed. seconds : which that took.
    """

    since: int = TIMED_EVERY
    seconds: float = 0.0

    def note(self, seconds: float, queued: bool) -> None:
        """A picture took so long."""
        if not queued:
            self.since, self.seconds = 0, seconds
        else:
            self.since = TIMED_EVERY if seconds > SLOWER * self.seconds else self.since + 1


class FrameKind(Enum):
    """The purpose of a frame."""

    FLIGHT = auto()  # a picture in motion: light of few pixels on the surfaces of all
    RUNG = auto()  # likewise at rest, until the film tells more
    # A picture that is shown when it has ended: of few pixels, of a program that is not reconstructed, or a film's
    # beginning where nothing is on show.
    PREVIEW = auto()
    FIRST = auto()  # a film's first sample
    REFINE = auto()  # more samples of it
    REFILTER = auto()  # another picture of the same samples

    @property
    def in_motion(self) -> bool:
        """Whether its samples are for this picture alone, see `raystream.renderer.preview.motion.of_motion`."""
        return self in (FrameKind.FLIGHT, FrameKind.RUNG)

    @property
    def preview(self) -> bool:
        """Whether it is shown once it has ended, in place of the picture before."""
        return self.in_motion or self is FrameKind.PREVIEW


class Pacing(Enum):
    """When the host waits for the device: after each STEP; for the FRAME, whose passes are one step; or it has them
    QUEUED, and waits for none."""

    STEP = auto()
    FRAME = auto()
    QUEUED = auto()


class Progress(Enum):
    """The state of the picture on show: that of another camera, scene or setting, in motion (MOVING) or at rest
    (STALE); a PREVIEW; the WHOLE picture, whatever its samples; or that, while its film is to be filtered again
    (UNFILTERED)."""

    MOVING = auto()
    STALE = auto()
    PREVIEW = auto()
    WHOLE = auto()
    UNFILTERED = auto()


@dataclass(frozen=True)
class DisplayState:
    """The picture on show, and its possible successors.

    size : (width, height) of the whole picture, pixels. samples : of each pixel of a whole picture; most : by the
    rules. seconds_left : by the rules. light : the share of a preview's time for its light; the rest is for its
    reconstruction. warps : a picture of this scene can be warped to the camera. scale : of the light of the picture on
    show. stepwise : it is traced kernel by kernel.
    """

    size: tuple[int, int]
    progress: Progress
    samples: int = 0
    most: int = 1
    seconds_left: float = float("inf")
    light: float = 1.0
    warps: bool = False
    scale: float = 1.0
    stepwise: bool = False

    @property
    def reconstructs(self) -> bool:
        """Whether previews are denoised and upsampled: those of a film's light."""
        return self.light < 1

    @property
    def moving(self) -> bool:
        """Whether the camera is, or something in the scene."""
        return self.progress is Progress.MOVING


@dataclass(frozen=True)
class ScheduledFrame:
    """The next frame.

    size : (width, height), pixels; scale : its width by the whole picture's. samples : that every pixel will have;
    added : new ones. budget : seconds.
    """

    kind: FrameKind
    size: tuple[int, int]
    scale: float
    samples: int
    added: int
    pacing: Pacing = Pacing.STEP
    budget: float = 0.0

    @property
    def pixels(self) -> int:
        """The pixels of the frame."""
        return self.size[0] * self.size[1]

    @property
    def queued(self) -> bool:
        """Whether the host waits for none of its passes."""
        return self.pacing is Pacing.QUEUED


class Scheduler:
    """The next frame, by the costs noted. rate : samples a second of whole pictures. light, upsampled : scales of
    previews' light, and of the pictures that it is upsampled to. tile_rows : rows of the next tile."""

    def __init__(self, interactive: bool = True, most_rows: int = 1) -> None:
        self.batches = INTERACTIVE if interactive else HEADLESS
        self.light, self.upsampled = PreviewScale(), PreviewScale()
        self.camera_rate = FIRST_CAMERA_RATE  # camera rays a second
        self.concurrent = False  # the host waits for no picture in motion: the device tells what each took
        self._added = 1 if interactive else 0  # samples of a pixel that were added last
        self._warped_of = 0, 0  # pictures that had been traced then, and how many were warped since
        self._warp_seconds = 0.0  # that the last picture that was warped took
        self.reset(most_rows)

    def reset(self, most_rows: int, concurrent: bool = False) -> None:
        """Another program or scene: the time that pictures take is not known. ``concurrent``: the device works beside
        the host."""
        self.concurrent = concurrent
        self.rate = FIRST_RATE
        self.light.forget()
        self.queue = QueuedFrames()
        self.tile_rows = TileRows(most_rows)

    # -- the next frame --------------------------------------------------------------------------------------------

    def next(self, display: DisplayState, budget: float) -> ScheduledFrame:
        """The next frame. budget : seconds until the window wants to answer."""
        size, pixels = display.size, display.size[0] * display.size[1]
        if display.progress is Progress.UNFILTERED:
            return ScheduledFrame(FrameKind.REFILTER, size, 1.0, display.samples, 0)
        if display.progress is Progress.WHOLE:
            batches = KERNEL_BY_KERNEL if display.stepwise and self.batches is HEADLESS else self.batches
            seconds = min(batches.seconds, max(display.seconds_left, 0.0))
            added = self._more(seconds * self.rate, pixels, display.most - display.samples)
            return ScheduledFrame(FrameKind.REFINE, size, 1.0, display.samples + added, added)
        # Kernel by kernel estimates are seen while they grow: at rest no preview holds them up.
        grows = display.stepwise and not (display.moving or display.reconstructs)
        if grows or display.progress is Progress.PREVIEW:
            scale = self._rung(display, pixels)
            if scale < 1:
                return self._preview(FrameKind.RUNG, display, scale, 1, budget)
            return ScheduledFrame(FrameKind.FIRST, size, 1.0, 1, 1, budget=budget)
        budget = max(budget, 1e-3)
        if display.reconstructs:
            # Where pictures are warped to the camera in between, one may take longer.
            budget = max(budget, IN_FLIGHT if display.moving and display.warps else DENOISED)
        rate = min(self.rate, STEPWISE_RATE) if display.stepwise else self.rate
        scales = SMALLER if display.reconstructs else SCALES
        scale, samples = self.light.choose(pixels, display.light * budget, rate, scales), 1
        if scale == 1 and display.most > 1:  # there may be time for more than one
            samples = self._more((self.light.rate or self.rate) * display.light * budget, pixels, display.most)
        # At rest a film may begin at once, unless pictures before have told more than its first samples will.
        flies = display.reconstructs and (display.moving or display.warps or scale < 1)
        return self._preview(FrameKind.FLIGHT if flies else FrameKind.PREVIEW, display, scale, samples, budget)

    def _preview(
        self, kind: FrameKind, display: DisplayState, scale: float, samples: int, budget: float
    ) -> ScheduledFrame:
        width, height = display.size
        size = max(1, round(width * scale)), max(1, round(height * scale))
        few = size[0] * size[1] <= min(MAX_MERGED_PIXELS, MAX_MERGED_SECONDS * (self.light.rate or 0.0))
        pacing = Pacing.STEP
        if kind.in_motion and self.concurrent:
            pacing = Pacing.QUEUED
        elif kind is FrameKind.FLIGHT and few:
            pacing = Pacing.FRAME if self.queue.since >= TIMED_EVERY else Pacing.QUEUED
        return ScheduledFrame(kind, size, scale, samples, samples, pacing, budget)

    def _rung(self, display: DisplayState, pixels: int) -> float:
        """The scale of the next picture at rest, of more light than the one on show; 1: the film's first sample."""
        if not display.reconstructs:
            return 1.0
        affordable = (self.light.rate or self.rate) * FIRST_RUNG
        ahead = [scale for scale in (*RUNGS, 1.0) if scale >= WIDER * display.scale] or [1.0]
        quick = [scale for scale in ahead if pixels * scale**2 <= affordable]
        return quick[-1] if quick else ahead[0]

    def _more(self, affordable: float, pixels: int, most: int) -> int:
        """Samples to add to each pixel."""
        samples = min(int(affordable / pixels), most, MAX_SAMPLES_IN_RUN)
        self._added = max(1, min(samples, self.batches.growth * self._added))
        return self._added

    # -- costs -----------------------------------------------------------------------------------------------------

    def note_frame(self, frame: ScheduledFrame, seconds: float, fixed: float = 0.0) -> None:
        """A frame took ``seconds``; ``fixed``: those of them that do not grow with its light's pixels."""
        traced = frame.pixels * frame.added
        self.tile_rows.forget()
        if traced:
            self.rate += self.batches.smoothing * (traced / max(seconds, 1e-6) - self.rate)
        if frame.kind.in_motion:
            self.queue.note(seconds, frame.queued)
        if frame.kind.preview and (self.concurrent or not frame.queued):
            self.light.note(traced / max(seconds - fixed, 1e-6))

    def note_camera_rays(self, rays: int, seconds: float) -> None:
        """``rays`` camera rays took ``seconds``."""
        self.camera_rate += SMOOTHING * (rays / max(seconds, 1e-6) - self.camera_rate)

    # -- between two frames ----------------------------------------------------------------------------------------

    def warps(self, traced: int, since: float, distance: float) -> bool:
        """Whether the last picture is warped to the camera now. traced : pictures so far; since : seconds that it has
        been on show; distance : from where it was seen, as a share of the scene's diagonal."""
        traced_before, count = self._warped_of
        due = since >= max(WARPING, COSTLY * self._warp_seconds)
        return due and (count if traced_before == traced else 0) < MAX_WARPS and near(distance)

    def note_warp(self, traced: int, seconds: float) -> None:
        """A picture was warped, which took so long."""
        traced_before, count = self._warped_of
        self._warped_of, self._warp_seconds = (traced, count + 1 if traced_before == traced else 1), seconds
