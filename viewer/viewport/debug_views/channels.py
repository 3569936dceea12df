"""Viewable channels of a machine's streams, derived from the program and its records alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.sampling.picture import COUNTED_LAYERS
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.program import Call
from raystream.stream.declare.record import COMPONENTS, Field
from raystream.viewport.debug_views import false_color
from raystream.viewport.debug_views.false_color import FalseColorPicture, Label

Calls = Mapping[str, NDArray[np.int32]]

COLOR_UNIT = "linear sRGB"
UNIT_VECTOR = "unit length"


@dataclass(frozen=True)
class Channel:
    """One viewable picture.

    name  : ``state``, ``steps``, ``traversal.voxel``, ``traversal.voxel.x``. group : its stream or other heading. kind
    : ``state``, ``count``, ``identity``, ``quantity``, ``vector`` or ``color``. The rest locates the values: a field of
    a stream, possibly one component, or a state whose calls are counted.
    """

    name: str
    group: str
    kind: str
    unit: str = ""
    about: str = ""
    stream: str = ""
    field: str = ""
    component: int | None = None
    counted: str = ""


# Derived from several fields.
RUNNING = Channel(
    "estimate.radiance",
    "estimate",
    "color",
    COLOR_UNIT,
    "running estimate: powers so far over the disc that holds them",
    stream="estimate",
)


def channels(linked: LinkedProgram, stored: Iterable[str]) -> dict[str, Channel]:
    """By name: the state, the counts, and every field of the ``stored`` streams, wide ones also by component."""
    listed = [Channel("state", "state", "state", about="the ray's next state", field="at")]
    if any(isinstance(t, Call) for s in linked.program.states for t in s.exits.values()):
        listed.append(Channel("return", "state", "state", about="state after a RETURN", field="back"))
    for layer, state in COUNTED_LAYERS.items():
        if state in linked.program.by_name:
            listed.append(Channel(layer, "counts", "count", layer, f"kernel calls in state {state}", counted=state))
    for state in linked.program.by_name:
        listed.append(Channel(f"calls.{state}", "counts", "count", "calls", "kernel calls in it", counted=state))
    for stream, record in linked.records.items():
        if stream in stored:
            for field in record.fields:
                listed += _field_channels(stream, field)
    listed += [RUNNING] if RUNNING.stream in stored else []
    return {channel.name: channel for channel in listed}


def gathered_streams(linked: LinkedProgram) -> frozenset[str]:
    """Streams of any size gathered by kernels: their elements are not rays."""
    return frozenset(name for state in linked.program.states for name in state.gathers())


def running_radiance(elements: NDArray) -> NDArray:
    """The values of `RUNNING` from its stream's ``elements`` (H, W), structured."""
    square = elements["square"][..., None]
    area = np.where(square > 0, np.pi * square, 1.0)
    return np.where(square > 0, elements["sum"] / area, 0.0)


def present(elements: NDArray, cells: int) -> NDArray[np.bool_]:
    """(H, W): the valid elements of a gathered stream: stored photons, entries of a grid of ``cells`` cells, and one
    place for each cell."""
    names = elements.dtype.names or ()
    if "stored" in names:
        return np.asarray(elements["stored"] > 0)
    if "cell" in names:
        return np.asarray(elements["cell"] < cells)
    return np.arange(elements.size).reshape(elements.shape) < (cells if "first" in names else elements.size)


def _field_channels(stream: str, field: Field) -> list[Channel]:
    def channel(kind: str, component: int | None = None) -> Channel:
        suffix = "" if component is None else f".{COMPONENTS[component]}"
        name = f"{stream}.{field.name}{suffix}"
        return Channel(name, stream, kind, field.unit, field.about, stream, field.name, component)

    if field.width == 1:
        return [channel("identity" if field.integer and not field.unit else "quantity")]
    whole = "color" if field.unit == COLOR_UNIT and field.width == 3 else "vector"
    return [channel(whole), *(channel("quantity", k) for k in range(field.width))]


def written(linked: LinkedProgram, stream: str, calls: Calls, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """(H, W): whether a ray's element of a stream has been written, by the host or by one of the ray's kernel calls."""
    mask = np.full(shape, stream in linked.program.inputs)
    for state in linked.program.states:
        if stream in state.writes():
            mask |= calls[state.name] > 0
    return mask


def show_state(linked: LinkedProgram, channel: Channel, numbers: NDArray[np.integer]) -> FalseColorPicture:
    """A picture of states from their numbers."""
    colors = false_color.state_colors(tuple(linked.program.by_name))
    nowhere = "done" if channel.field == "at" else "done, or no call"
    labels = [Label(nowhere, false_color.DONE), *(Label(state, color) for state, color in colors.items())]
    return false_color.names(channel.name, numbers, labels, np.ones(numbers.shape, bool))


def show_count(channel: Channel, counts: NDArray[np.integer]) -> FalseColorPicture:
    """A picture of counts."""
    return false_color.count(channel.name, counts, np.ones(counts.shape, bool), channel.unit)


def show_field(channel: Channel, values: NDArray, valid: NDArray[np.bool_]) -> FalseColorPicture:
    """A picture of a field's values, (H, W) or (H, W, width), where they are ``valid``."""
    extent = (-1.0, 1.0) if channel.unit == UNIT_VECTOR else None
    if channel.kind == "color":
        return false_color.color(channel.name, values, valid)
    if channel.kind == "identity":
        return false_color.identities(channel.name, values, valid)
    if channel.kind == "vector":
        return false_color.vector(channel.name, values, valid, channel.unit, extent)
    return false_color.quantity(channel.name, values, valid, channel.unit, extent)
