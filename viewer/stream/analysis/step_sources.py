"""The fragment programs of a linked program's states, as read by instruction counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from viewer.stream.compile.addresses import WIDEST, Addresses, PlannedAddresses
from viewer.stream.compile.form import Form
from viewer.stream.compile.generate import fragment
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.compile.source import Source

_TURN = re.compile(r"^ *(int turn = 0|\+\+turn);$")
_ENTERS = re.compile(r"^    (while|if) \((turn < unroll && )?state == STATE_\w+\) (do )?\{$")
_LEAVES = re.compile(r"^    \} while \(turn < unroll && state == STATE_\w+\);$")
_ONCE = re.compile(r"^\w+ once_(\w+) = gl_FragCoord\.x < 0\.0 \? .*;$|^#define (\w+) once_\2$")


def step_sources(linked: LinkedProgram, addresses: Addresses | None = None) -> Iterator[tuple[str, Source]]:
    """The fragment program of each state, a kernel each, without workarounds for drivers (`plain`)."""
    for step in linked.steps("none"):
        source = fragment(linked, step, Form(scheduled=True), addresses or PlannedAddresses(WIDEST))
        yield step.name, plain(source)


def plain(source: Source) -> Source:
    """A program without workarounds and scheduling: without the copies of uniforms for llvmpipe
    (`viewer.stream.compile.memories.uniform_glsl`), and without its state's loop and test, which a mask and ``unroll``
    1 replace.
    """
    return replace(source, lines=[(_plain_line(text), origin) for text, origin in source.lines])


def _plain_line(text: str) -> str:
    if _ONCE.match(text) or _TURN.match(text):
        return ""
    return "    {" if _ENTERS.match(text) else "    }" if _LEAVES.match(text) else text
