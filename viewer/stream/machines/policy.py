"""Policies: the multipass machine's choice of states after a mask pass, by counts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from raystream.base.errors import ViewerError


class Policy(Protocol):
    """``waiting[k]`` rays wait for the k-th step of a loop, in the program's order; ``total`` rays are in the stream.

    ``counts``: the policy needs them before every pass, so that the host waits for the device.
    """

    counts: ClassVar[bool]

    def choose(self, waiting: Sequence[int], total: int) -> list[int]:
        """The steps to serve, each at most once, in order. At least one ray waits."""
        ...


@dataclass(frozen=True)
class Sweep:
    """Every step in turn, in the program's order; without counts, so the host need not wait."""

    counts: ClassVar[bool] = False

    def choose(self, waiting: Sequence[int], total: int) -> list[int]:
        """Every step, in order."""
        return list(range(len(waiting)))


@dataclass(frozen=True)
class Naive:
    """The latest step in the program's order with a waiting ray."""

    counts: ClassVar[bool] = True

    def choose(self, waiting: Sequence[int], total: int) -> list[int]:
        """The latest step for which a ray waits."""
        return [max(k for k, rays in enumerate(waiting) if rays)]


@dataclass(frozen=True)
class Threshold:
    """A later step once a fraction of the rays wait for it, else the first (Purcell et al. 2002, section 3.2: 20 %).

    share : the fraction; of : 'active', the rays in this loop, or 'all', those of the whole stream.
    """

    share: float = 0.2
    of: str = "active"
    counts: ClassVar[bool] = True

    def choose(self, waiting: Sequence[int], total: int) -> list[int]:
        """The latest step with enough rays; else the first, if any wait for it; else the fullest."""
        rays = sum(waiting) if self.of == "active" else total
        for k in range(len(waiting) - 1, 0, -1):
            if waiting[k] and waiting[k] / rays >= self.share:  # 0.07 * 100 is more than 7
                return [k]
        if waiting[0]:
            return [0]
        return [max(range(len(waiting)), key=lambda k: waiting[k])]


@dataclass(frozen=True)
class MostWork:
    """The step with the most waiting rays (H. C. Delany, 1988); the earliest among equals."""

    counts: ClassVar[bool] = True

    def choose(self, waiting: Sequence[int], total: int) -> list[int]:
        """The step for which most rays wait."""
        return [max(range(len(waiting)), key=lambda k: waiting[k])]


def policy(name: str, share: float = 0.2, of: str = "active") -> Policy:
    """The policy of a name. Raises ViewerError for an unknown one, a share beyond 0 .. 1 or an unknown ``of``."""
    if not 0 <= share <= 1 or of not in ("active", "all"):
        raise ViewerError("--policy", f"a threshold of {share} of '{of}'", "0 to 1, of 'active' or 'all'")
    policies: dict[str, Policy] = {
        "sweep": Sweep(),
        "naive": Naive(),
        "threshold": Threshold(share, of),
        "most-work": MostWork(),
    }
    if name not in policies:
        raise ViewerError("--policy", f"unknown policy '{name}'", f"one of {', '.join(policies)}")
    return policies[name]
