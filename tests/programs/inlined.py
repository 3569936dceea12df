"""Texts of generated programs, and how much there is once all calls are inlined, as compilers of shaders do."""

from __future__ import annotations

import re
from collections import Counter

from raystream.renderer.renderer import Renderer
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.link import LinkedProgram

_FUNCTION = re.compile(r"^(?:\w+) (\w+)\(([^;{]*)\) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r"\b(\w+)\(")


def single_pass(renderer: Renderer) -> tuple[LinkedProgram, str]:
    """A renderer's program, and its text in a single pass, without comments."""
    linked = renderer.gpu_scene.bind(renderer.program(), renderer.settings)
    text = fragment(linked, linked.single(), Form(scheduled=False), renderer.gpu_scene.resources).text
    return linked, "\n".join(line.split("//")[0] for line in text.splitlines())


def copies(text: str) -> Counter[str]:
    """How often each function of a program without ``#ifdef`` is there: a call in a loop counts once."""
    bodies = {name: body for name, _, body in _FUNCTION.findall(text)}
    called = {name: Counter(found for found in _CALL.findall(body) if found in bodies) for name, body in bodies.items()}
    total: Counter[str] = Counter()
    ahead = Counter({"main": 1})
    while ahead:
        total.update(ahead)
        after: Counter[str] = Counter()
        for name, times in ahead.items():
            after.update({inner: times * count for inner, count in called[name].items()})
        ahead = after
    return total


def lines(text: str) -> int:
    """Of all copies of all functions."""
    bodies = {name: body.count("\n") for name, _, body in _FUNCTION.findall(text)}
    return sum(times * bodies[name] for name, times in copies(text).items())
