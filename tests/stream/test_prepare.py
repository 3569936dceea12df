"""What functions take of a record is found once for each that is another, and never for one that nobody asks about."""

from __future__ import annotations

from raystream.stream.compile.generate import Form, fragment, preparations
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.kernel import IN, INOUT, OUT, Kernel, Module, PreparedValue, copying
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.declare.record import Field, Record

PLACE, LIGHT = Record("Place", Field("x", "float")), Record("Light", Field("y", "float"))
OWN = PreparedValue(
    "Place", "float", "find_own", "own_kept", "OWN", frozenset({"shine"}), preserved_by=frozenset({"turn"})
)
SHINING = Module("shining", ("shine",), "shine.glsl", uses=(PLACE,), prepared=OWN)
TURNING = Module("turning", ("turn",), "turn.glsl", uses=(PLACE,))
ARRIVE = Kernel("arrive", (OUT("place", PLACE),), ("done",))
TURN = Kernel("turn_it", (INOUT("place", PLACE),), ("done",), ("turn",))
MOVE = Kernel("move_it", (INOUT("place", PLACE),), ("done",))
COPY = copying("copy_it", ("place", "other", PLACE))
SHINE = Kernel("shine_it", (IN("place", PLACE), OUT("light", LIGHT)), ("again", "done"), ("shine",))


def chain(
    *kernels: Kernel, streams: dict[str, str] | None = None, inputs: tuple[str, ...] = (), results=("light",)
) -> LinkedProgram:
    """The kernels one after the other; the last comes back to the first, or ends. streams : of the last."""
    names = [f"s{number}" for number in range(len(kernels))]
    states = tuple(
        State(
            name,
            kernel,
            {exit_: after if exit_ == "done" else names[0] for exit_ in kernel.exits},
            (streams or {}) if after is DONE else {},
        )
        for name, kernel, after in zip(names, kernels, [*names[1:], DONE], strict=True)
    )
    program = Program("chain", {"place": PLACE, "other": PLACE, "light": LIGHT}, inputs, results, states, names[0])
    return LinkedProgram(program, [SHINING, TURNING])


def main_of(linked: LinkedProgram) -> str:
    text = fragment(linked, linked.single(), Form(scheduled=False), None, read=lambda name: f"// {name}").text
    return text[text.index("void main()") :]


def test_behind_the_last_that_writes_before_one_asks():
    text = main_of(chain(ARRIVE, MOVE, SHINE))
    assert text.count("own_kept = find_own(s_place);") == 1
    assert text.index("move_it(") < text.index("find_own(") < text.index("shine_it(")


def test_not_where_nothing_is_written_that_it_follows_from():
    text = main_of(chain(ARRIVE, TURN, SHINE))
    assert text.count("find_own(") == 1 and text.index("arrive(") < text.index("find_own(") < text.index("turn_it(")


def test_what_is_loaded():
    linked = chain(SHINE, inputs=("place",))
    assert main_of(linked).index("find_own(") < main_of(linked).index("while (")
    passes = linked.steps("none")
    assert [each.loads for each in preparations(linked, passes[0])] == [("place",)]


def test_a_copy_is_taken_over():
    linked = chain(ARRIVE, COPY, SHINE, streams={"place": "other"})
    text = main_of(linked)
    assert text.count("find_own(") == 1 and "own_kept_place = find_own(s_place);" in text
    assert text.index("copy_it(") < text.index("own_kept_other = own_kept_place;")
    assert text.index("own_kept = own_kept_other;") < text.index("shine_it(")


def test_a_copy_that_waits_is_taken_back():
    """Also where nobody asks about the stream that it waits in."""
    back = {"place": "other", "other": "place"}
    states = (
        State("arrive", ARRIVE, {"done": "save"}),
        State("save", COPY, {"done": "move"}),
        State("move", MOVE, {"done": "restore"}),
        State("restore", COPY, {"done": "shine"}, back),
        State("shine", SHINE, {"again": "arrive", "done": DONE}),
    )
    streams = {"place": PLACE, "other": PLACE, "light": LIGHT}
    text = main_of(LinkedProgram(Program("saved", streams, (), ("light",), states, "arrive"), [SHINING, TURNING]))
    assert text.count("find_own(") == 1 and "own_kept_place = find_own(s_place);" in text
    assert text.index("own_kept_other = own_kept_place;") < text.index("own_kept_place = own_kept_other;")


def test_behind_the_exits_from_which_one_asks():
    """What another exit leads to neither asks nor waits for it."""
    meet = Kernel("meet_it", (OUT("place", PLACE),), ("met", "missed", "passed"))
    states = (
        State("meet", meet, {"met": "shine", "missed": "other", "passed": "turn"}),
        State("turn", TURN, {"done": "shine"}),
        State("shine", SHINE, {"again": "meet", "done": DONE}),
        State("other", Kernel("dim_it", (OUT("light", LIGHT),), ("done",)), {"done": DONE}),
    )
    streams = {"place": PLACE, "light": LIGHT}
    linked = LinkedProgram(Program("met", streams, (), ("light",), states, "meet"), [SHINING, TURNING])
    wanted = "if (exit_code == EXIT_MET || exit_code == EXIT_PASSED) own_kept = find_own(s_place);"
    assert main_of(linked).count("find_own(") == 1 and wanted in main_of(linked)


def test_nobody_asks():
    linked = chain(ARRIVE, MOVE, results=("place",))
    assert preparations(linked, linked.single()) == [] and "find_own" not in main_of(linked)


def test_kernels_that_copy_are_generated():
    linked = chain(ARRIVE, COPY, SHINE, streams={"place": "other"})
    text = fragment(linked, linked.single(), Form(scheduled=False), None, read=lambda name: f"// {name}").text
    assert "int copy_it(in Place place, out Place other) {\n    other = place;\n    return EXIT_DONE;\n}\n" in text
    assert "// kernels/arrive.glsl" in text and "// kernels/copy_it.glsl" not in text
