"""Diagrams of programs: everything of the table is in them, and nothing lies on anything else."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from raystream.cli.graph import drawings, graph
from raystream.programs.diagram import MARGIN, Rectangle, draw_program
from raystream.stream.declare.program import Call


@pytest.fixture(scope="module", params=drawings())
def drawn(request):
    """(program, its drawing, texts of its SVG)."""
    program = drawings()[request.param][0]()
    tree = ElementTree.fromstring(graph(request.param))
    return program, draw_program(program), [each.text for each in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_every_state_kernel_exit_and_stream_is_there(drawn):
    program, drawing, texts = drawn
    labels = ", ".join(text for text, _ in drawing.labels).split(", ")
    for state in program.states:
        assert state.name in texts and (state.kernel.file or "copies") in texts
        for name, target in state.exits.items():
            assert (f"{name}: call" if isinstance(target, Call) else name) in labels
    assert set(program.streams) <= set(texts)


def test_labels_boxes_and_lanes_are_apart(drawn):
    _, drawing, _ = drawn
    shapes = [(f"label {text}", shape) for text, shape in drawing.labels]
    shapes += list(drawing.boxes.items())
    shapes += [(f"to {lane.target}", Rectangle(lane.x, lane.top, 1, lane.bottom - lane.top)) for lane in drawing.lanes]
    for number, (name, shape) in enumerate(shapes):
        for other, beside in shapes[:number]:
            assert not shape.overlaps(beside), f"{name} lies on {other}"
        assert shape.x >= MARGIN / 2 and shape.x + shape.width <= drawing.width, f"{name} is outside"
        assert shape.y >= 0 and shape.y + shape.height <= drawing.height, f"{name} is outside"


def test_an_arrow_for_every_lane(drawn):
    _, drawing, _ = drawn
    assert len({lane.target for lane in drawing.lanes}) == len(drawing.lanes)
    for lane in drawing.lanes:
        assert lane.top < drawing.boxes[lane.target].y + drawing.boxes[lane.target].height
        assert lane.bottom > drawing.boxes[lane.target].y


def test_room_for_texts_is_by_their_letters(drawn):
    """A label is as wide as its letters, 0.62 of their height each; a box holds the name of its state."""
    program, drawing, _ = drawn
    for text, shape in drawing.labels:
        assert shape.width == pytest.approx(0.62 * len(text) * shape.height)
    for state in program.states:
        assert drawing.boxes[state.name].width >= 0.62 * len(state.name) * 11
