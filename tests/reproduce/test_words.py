"""Words of kernels by their declarations, beside what the machines themselves count, and the published ones."""

from __future__ import annotations

import pytest
from reproduction.published.chapter5 import TABLE_5_1
from reproduction.simulators.counts import PUBLISHED_KERNELS, calls_within, published_program, words

from raystream import Renderer
from raystream.stream.compile.source import Source
from raystream.stream.machines.common import STATE_WORDS
from raystream.viewport.debug_views.inspector import PAPERS_PROGRAMS, PUBLISHED_COSTS, stream_words


def test_words_are_those_that_the_machine_counts(device) -> None:
    """Texels of all streams, and as many words fetched: no branch is around the fetches of these kernels but the
    shader's for rays that hit nothing, of which there are none within the box."""
    options = {"program": "cast", "accel": "grid", "grid": 4, "intersection": "moller-trumbore"}
    renderer = Renderer("cornell", device=device, fuse="none", unroll=1, **options)
    stats = renderer.render((16, 16), stats=True).stats
    linked = renderer.gpu_scene.bind(renderer.program(), renderer.settings)
    found = words(linked, padded=True, addresses=renderer.gpu_scene.resources)
    assert set(found) == set(stats.kernels) == {"eye", "setup", "traverse", "intersect", "shade"}
    for state, total in stats.kernels.items():
        mine = found[state]
        assert (mine.read, mine.written) == (
            total.words_read_per_call - STATE_WORDS,
            total.words_written_per_call - STATE_WORDS,
        )
        assert (mine.state_read, mine.state_written) == (4 * STATE_WORDS, 4 * STATE_WORDS)
        assert total.words_random == total.calls * mine.random
    renderer.release()


def test_words_that_hold_something_are_the_records_scalars() -> None:
    found = words(published_program("cast", grid=4))
    # Ray 8, Traversal 8 (voxel 3, inverse 3, list, t_exit), Hit 5; a voxel's word; an entry, and a triangle's ten.
    assert found["traverse"][:3] == (8 + 8 + 5, 8, 1)
    assert found["intersect"][:3] == (8 + 8 + 5, 8 + 5, 1 + 10)
    # A ray, where it enters the scene's box, and the hit of one that does not.
    assert found["eye"] == (2, 8 + 1 + 5, 0, 2, 2) and found["eye"].bytes == 4 * 16 + 4
    assert found["setup"][:3] == (8 + 1, 8, 0)
    assert found["shade"].written == 3


def test_one_pass_reads_and_writes_what_the_program_is_given_and_gives() -> None:
    for name in ("cast", "path"):
        linked = published_program(name, grid=4)
        found = words(linked, "MIMD")
        given, made = (
            sum(linked.records[stream].scalars for stream in streams)
            for streams in (linked.program.inputs, linked.program.results)
        )
        assert sum(each.read for each in found.values()) == given == found[linked.program.start].read
        assert sum(each.written for each in found.values()) == made
        assert all(each.state_read == each.state_written == 0 for each in found.values())
        several = words(linked)
        assert {state: each.random for state, each in found.items()} == {s: e.random for s, e in several.items()}
    with pytest.raises(ValueError, match="one of SIMD, MIMD"):
        words(published_program("cast", grid=4), "multipass")


def test_the_inspector_shows_these_words_and_the_published_ones() -> None:
    for kernel, programs in PUBLISHED_KERNELS.items():
        theirs = TABLE_5_1["SIMD"][kernel]
        for name, states in programs.items():
            linked = published_program(name, grid=4)
            counted = words(linked)
            assert states[0] in PUBLISHED_COSTS and name in PAPERS_PROGRAMS
            cost = PUBLISHED_COSTS[states[0]]
            assert (cost.kernel, cost.instructions, cost.read, cost.written, cost.fetched) == (kernel, *theirs[:4])
            for state in states:
                assert stream_words(linked, state) == counted[state][:2]


def test_calls_are_found_through_functions_and_comments() -> None:
    source = Source()
    source.add(
        "float fetch_a(int i) { return 1.0; }\n"
        "float inner(int i) {\n    if (i > 0) { return fetch_a(i); }\n    return fetch_a(-i) /* fetch_a(0) */;\n}\n"
        "int kernel(int i) {\n    // fetch_a(1)\n    float x = inner(i) + inner(2 * i) + fetch_a(i);\n"
        "    return 0;\n}\n",
        "test",
    )
    calls = calls_within(source, "kernel")
    assert calls["fetch_a"] == 5 and calls["inner"] == 2
