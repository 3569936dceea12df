"""Rays of the shade tree that wait while photons are looked up, in passes of their own between a surface's first half
and its second: the second half's stack was taken for a local variable of that pass, and what had been put there in one
pass was gone in the next. Glass was black behind its first surface, on the default machine alone."""

from __future__ import annotations

import viewer
from viewer.programs.photon_map import photon_map
from viewer.renderer.renderer import Renderer


def test_a_stack_that_outlives_its_pass_is_a_stream(device):
    renderer = Renderer(viewer.load("glass_ball"), program="photon", device=device, depth=2)
    steps = renderer.bind(photon_map(depth=2), False).steps("surface")
    of_state = {state: step for step in steps for state in step.states}
    for stream in ("pending_0", "pending_1"):
        number = stream[-1]
        assert stream in of_state[f"push_{number}"].stores and stream in of_state[f"pop_{number}"].loads
    renderer.release()


def test_glass_is_the_same_from_every_machine():
    """Light comes over four surfaces: into the ball, out of it, and what is reflected inside."""
    pictures = []
    for machine in ({"machine": "singlepass"}, {"machine": "multipass", "fuse": "surface"}):
        renderer = Renderer(
            viewer.load("glass_ball"), program="photon", photons=200, photon_bounces=2, depth=4, **machine
        )
        pictures.append(renderer.render((14, 12), spp=1).linear.tobytes())
        renderer.release()
    assert pictures[0] == pictures[1]
