"""How many rays a draw may have, or how many points or triangles: a driver ends programs that keep a device busy for
seconds, and no device is known before it has drawn something.

Pure arithmetic: `raystream.stream.gl.draw` draws by it, and times draws by queries that are read when they are there. A
ray's results do not depend on the draw that it belongs to; points and triangles are drawn in their order, on which
depths and sums depend.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

LONGEST = 0.1  # seconds of a draw; drivers end one after 2 or more
AIMED = 0.5  # of `LONGEST`: other rays may be dearer than those that were timed
FIRST, LEAST = 64 * 64, 8 * 8  # rays of a program's first draw, and of its smallest
FIRST_PLAIN = 1 << 18  # elements of the first draw of a pass without loops
MOST_UNKNOWN = 4  # draws without an answer, before the first has told
MOST_UNSEEN = 1 << 16  # rays of a draw, where those before have told of few rays alone
GROWTH = 4.0  # times as many rays as were timed, at most
MOST_LISTED = 1 << 20  # points or triangles of a draw: the next ones may cover far more than those that were timed
SIDE = 8  # rays along the shorter side of a part of a draw
REMEMBERED = 32  # timed draws, of which the dearest rays count
TIMED_EVERY = 8  # draws that are known to be short
FIRST_TURNS, MOST_TURNS = 64, 1 << 16  # of a loop in one draw, once its smallest part takes too long

Box = tuple[int, int, int, int]  # x, y, width, height


class DrawSizes:
    """The sizes of one program's draws, from a small one on, by the times of earlier ones.

    rays : of the next draw, at most; or points, or triangles. turns : of a loop in it, where even the smallest takes
    too long; None: any number. listed : of points or triangles, of which a draw may have a single one.
    """

    def __init__(self, first: int = FIRST, listed: bool = False) -> None:
        self.rays = first
        self.least, self.most = (1, MOST_LISTED) if listed else (LEAST, 1 << 62)
        self._granted = first if listed else 0  # whatever was timed: a short list is no reason to cut a long one
        self.turns: int | None = None
        self._costs: deque[float] = deque(maxlen=REMEMBERED)  # seconds of a ray, in draws of about one size
        self._largest = 0  # of the rays of these draws
        self.timed = False  # whether any draw has told, be it of few rays
        self._since = TIMED_EVERY

    @property
    def known(self) -> bool:
        """Whether a draw has told the cost of rays."""
        return self._largest > 0

    def times(self, rays: int) -> bool:
        """Whether a draw of this number of rays is to be timed: each, until they are known to be short."""
        self._since += 1
        if not self.known or rays * max(self._costs) * GROWTH > LONGEST or self._since > TIMED_EVERY:
            self._since = 0
            return True
        return False

    def note(self, rays: int, seconds: float, active: int) -> None:
        """Learn the seconds of a draw of ``rays``, of which ``active`` were not excluded before they began."""
        self.timed = True
        if 2 * active < rays:  # which says little of what all of them cost
            if seconds > LONGEST:
                self.rays = max(self.least, min(self.rays, int(AIMED * LONGEST / seconds * rays)))
            elif active and not self.known and seconds * GROWTH < LONGEST:
                self.rays = max(self.rays, min(MOST_UNSEEN, int(GROWTH * rays)))
        else:
            self._note(rays, seconds)
        if rays <= self.least and seconds > LONGEST:
            self.turns = max(1, (self.turns or 2 * FIRST_TURNS) // 2)
        elif self.turns is not None and active and seconds * GROWTH < LONGEST:
            self.turns = 2 * self.turns if self.turns < MOST_TURNS else None

    def _note(self, rays: int, seconds: float) -> None:
        if rays >= GROWTH * self._largest or seconds > LONGEST:  # of more, the fixed cost of a draw matters less
            self._costs.clear()
            self._largest = rays
        if 2 * rays >= self._largest:
            self._costs.append(seconds / rays)
            self._largest = max(self._largest, rays)
        target = AIMED * LONGEST / max(*self._costs, 1e-12)
        self.rays = max(self.least, int(min(target, max(GROWTH * self._largest, self._granted), self.most)))
        self._largest = min(self._largest, self.rays)

    def parts(self, box: Box) -> Iterator[Box]:
        """The parts of a rectangle that are drawn one after the other, each as large as draws may be by then."""
        x, y, width, height = box
        top = 0
        while top < height:
            tall = min(height - top, max(SIDE, self.rays // width))
            left = 0
            while left < width:
                wide = min(width - left, max(SIDE, self.rays // tall))
                yield x + left, y + top, wide, tall
                left += wide
            top += tall

    def ranges(self, count: int, of: int = 1) -> Iterator[tuple[int, int]]:
        """The first and the number of the elements of each part of a list, each as large as draws may be by then. of :
        rays of an element."""
        first = 0
        while first < count:
            some = min(count - first, max(1, self.rays // of))
            yield first, some
            first += some
