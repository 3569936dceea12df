"""The state of a viewport: tone mapping, overlays, the picture's area, mouse and keys.

Each is written by its own methods alone, but for `Overlay.on`, which is a switch, and `InputState`, which is
`raystream.viewport.pointer.PointerInput`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from raystream.viewport.preferences import Preferences


class ToneMapping:
    """Exposure and tone map of the picture on show.

    exposure : stops, or auto, which means ``metered`` stops now. tonemap : its name.
    """

    def __init__(self, exposure: float | str, tonemap: str) -> None:
        self.exposure, self.tonemap, self.metered = exposure, tonemap, 0.0

    @property
    def automatic(self) -> bool:
        """Whether the exposure follows the picture."""
        return isinstance(self.exposure, str)

    @property
    def stops(self) -> float:
        """The exposure on show."""
        return self.metered if isinstance(self.exposure, str) else self.exposure

    def choose(self, *, exposure: float | str | None = None, tonemap: str | None = None) -> None:
        """Choose one or both; None: as it is."""
        self.exposure = self.exposure if exposure is None else exposure
        self.tonemap = self.tonemap if tonemap is None else tonemap

    def meter(self, stops: float) -> None:
        """The light meter's result."""
        self.metered = stops


@dataclass
class Overlay:
    """Something that is drawn over the picture while it is ``on``. name : in messages."""

    name: str
    on: bool = False


class Overlays:
    """The overlays that keys show and hide. boxes : of the acceleration structure."""

    def __init__(self, preferences: Preferences) -> None:
        self.panels = Overlay("panels", preferences.panels)
        self.statistics = Overlay("statistics", preferences.statistics)
        self.help, self.boxes = Overlay("help"), Overlay("boxes")


class PictureArea:
    """Where the picture is shown.

    size : window coordinates; ``pixels`` of its framebuffer. scale : of the window's text. minimised : nobody sees it.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.size, self.pixels, self.scale, self.minimised = size, size, 1.0, False

    @property
    def aspect(self) -> float:
        """Width / height."""
        return max(1, self.size[0]) / max(1, self.size[1])

    def resize(self, size: tuple[int, int], pixels: tuple[int, int]) -> None:
        """Another size, in both units."""
        self.size, self.pixels = size, pixels

    def rescale(self, scale: float) -> None:
        """On a screen of another density."""
        self.scale = scale

    def minimise(self, minimised: bool) -> None:
        """Out of sight, or back."""
        self.minimised = minimised


@dataclass
class InputState:
    """Mouse and keys. cursor : in the picture, window coordinates. drag : button and modifiers that are down.
    motions : whose flight keys are down."""

    cursor: tuple[float, float] = (0.0, 0.0)
    drag: tuple[int, int] | None = None
    motions: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Message:
    """The line in the window. until : when a note is taken back, by `time.monotonic`; an error stays."""

    text: str = ""
    is_error: bool = False
    until: float = 0.0
