"""Rays of a shade tree that wait while another one is in a pass of its own are not lost.

Streams that are pushed and popped in one fused pass were taken for its local variables, even where a ray leaves the
pass between the two: under ``fuse="surface"`` photon mapping lost what glass refracts.
"""

from __future__ import annotations

from typing import Any

import viewer
from viewer.programs import PICTURES
from viewer.renderer.prepared import prepare
from viewer.renderer.settings import Settings
from viewer.stream.compile.link import LinkedProgram


def test_a_waiting_ray_is_found_by_a_later_pass() -> None:
    scene = viewer.load("cornell_photons")
    pictures = []
    for passes in ({"machine": "singlepass"}, {"machine": "multipass", "fuse": "surface"}):
        options: dict[str, Any] = {"photons": 200, "photon_bounces": 3, **passes}
        pictures.append(viewer.Renderer(scene, program="photon", **options).render((16, 16), spp=1).linear)
    assert pictures[0].tobytes() == pictures[1].tobytes() and pictures[0].max() > 0


def test_a_stack_that_is_emptied_in_its_pass_stays_local() -> None:
    modules = prepare(viewer.load("balls"), Settings()).modules(False, True, "sobol")
    linked = LinkedProgram(PICTURES["whitted"](), modules)
    for step in linked.inlined().steps("surface"):
        assert not any(name.startswith("pending_") for name in (*step.loads, *step.stores))
