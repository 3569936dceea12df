"""Jobs: each of the five steps with a toy program, what is sent back, what is yielded, and what abandoning leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import toys
from numpy.typing import NDArray
from toys import COLLATZ, NESTED, NUMBER, SEED, Toy, simulate

from raystream.denoise.records import LIT
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Clear, Copy, Draw, Executor, Host, Job, Run
from raystream.stream.machines import MACHINES
from raystream.stream.machines.common import Machine

SIZE = (19, 11)
RAYS = SIZE[0] * SIZE[1]


class Machines:
    """Hands out the machine of a run, made once for each key."""

    def __init__(self, device: Any, resources: Resources, kind: str) -> None:
        self.device, self.resources, self.kind = device, resources, kind
        self.made: dict[Any, Machine] = {}

    def of(self, run: Run) -> Machine:
        """The machine, which owns no stream that the run lends."""
        key = run.key, run.size, run.counting
        if key not in self.made:
            toy = next(toy for toy in (COLLATZ, NESTED) if toy.program is run.program)
            form: dict[str, Any] = {"counting": run.counting, "streams": run.streams}
            self.made[key] = MACHINES[self.kind](self.device, toy.linked, run.size, self.resources, **form)
        return self.made[key]


@pytest.fixture(params=list(MACHINES))
def machines(request, device) -> Iterator[Machines]:
    """Of each kind."""
    resources = Resources(device)
    made = Machines(device, resources, request.param)
    yield made
    for machine in made.made.values():
        machine.release()
    resources.release()


@pytest.fixture
def executor(device, machines) -> Executor:
    """Runs jobs on those machines."""
    return Executor(device, machines.resources, machines.of)


def expected(toy: Toy, count: int = RAYS) -> dict[str, NDArray]:
    """Results (N,) of the NumPy model."""
    return simulate(toy, toy.fill(count)).streams


def finish(steps: Iterator[float]) -> list[float]:
    """What is yielded."""
    return list(steps)


def test_the_order_of_steps_is_the_job_s_and_their_answers_are_sent_into_it(device, executor, machines):
    """Copy, clear, draw, run, copy back, host: a rectangle of a larger stream of seeds is worked on."""
    seeds, answers = (Stream(device, toys.SEED, (40, 30)), Stream(device, toys.ANSWER, (40, 30)))
    given = np.zeros((30, 40), SEED.dtype)
    given["n"] = 1 + np.arange(1200).reshape(30, 40) * 3 % 1999
    seeds.write(given)
    resources, told = machines.resources, []

    def job() -> Job:
        rows = resources.stream("seed", SEED, SIZE)
        found = resources.stream("answer", toys.ANSWER, SIZE)
        told.append((yield Copy(seeds, rows, (5, 7), (13, 16))))
        told.append((yield Clear(answers, [(1.0, 2.0, 0.0, 0.0)])))
        told.append((yield Draw(lambda: told.append("drawn"))))
        told.append((yield Run(COLLATZ.program, "collatz", SIZE, 13 * 16, {"seed": rows, "answer": found})))
        told.append((yield Copy(answers, found, (5, 7), (13, 16), back=True)))
        told.append((yield Host(lambda: "told")))

    shares = finish(executor.run(job()))
    (machine,) = machines.made.values()
    assert told == [None, None, "drawn", None, machine, None, "told"]
    assert executor.machine is machine and executor.stats.draws == 1
    assert shares[:3] == [0.0] * 3 and shares[-3:] == [1.0] * 3  # of the last run; none at first
    assert shares == sorted(shares)
    inside = given["n"][7:23, 5:18]
    model = simulate(COLLATZ, {"seed": given[7:23, 5:18].reshape(-1)}).streams["answer"]
    out = answers.read()
    np.testing.assert_array_equal(out["steps"][7:23, 5:18].reshape(-1), model["steps"])
    np.testing.assert_array_equal(out["began"][7:23, 5:18], inside)
    out[7:23, 5:18] = 0
    outside = np.ones((30, 40), bool)
    outside[7:23, 5:18] = False
    np.testing.assert_array_equal(out["steps"], outside * 1)  # what the clearing gave
    np.testing.assert_array_equal(out["began"], outside * 2)


def test_a_run_fills_lends_and_sets(device, executor, machines):
    """Its own streams are filled by ``fill``, results are lent, uniforms reach the modules."""
    results = []

    def job(scale: float) -> Job:
        path = machines.resources.stream("path", toys.PATH, SIZE)

        def fill(machine: Machine) -> None:
            assert machine.streams["path"] is path
            machine.write("path", NESTED.fill(RAYS)["path"].reshape(SIZE[::-1]))

        yield Run(NESTED.program, "nested", SIZE, RAYS, {"path": path}, {"cell_scale": scale}, fill)
        results.append(path.read().reshape(-1))

    finish(executor.run(job(float(np.float32(0.7)))))
    np.testing.assert_array_equal(results[0], expected(NESTED)["path"])
    finish(executor.run(job(0.5)))
    assert not np.array_equal(results[1]["sum"], results[0]["sum"])
    finish(executor.run(job(float(np.float32(0.7)))))
    np.testing.assert_array_equal(results[2], results[0])
    assert len(machines.made) == 1  # which served all three


def collatz(machines: Machines, rays: int = RAYS, counting: bool = False, note: Callable[[], Any] = int) -> Job:
    """Seeds of the toy, run into the resources' stream of answers."""
    seed = machines.resources.stream("seed", SEED, SIZE)
    answer = machines.resources.stream("answer", toys.ANSWER, SIZE)
    yield Host(lambda: seed.write(COLLATZ.fill(RAYS)["seed"].reshape(SIZE[::-1])))
    yield Clear(answer)
    yield Run(COLLATZ.program, "collatz", SIZE, rays, {"seed": seed, "answer": answer}, counting=counting)
    yield Host(note)


@pytest.mark.parametrize("rays", [RAYS, RAYS - 1, 40, 1])
def test_only_the_first_rays_run(executor, machines, rays):
    finish(executor.run(collatz(machines, rays)))
    found = machines.resources.stream("answer", toys.ANSWER, SIZE).read().reshape(-1)
    np.testing.assert_array_equal(found[:rays], expected(COLLATZ)["answer"][:rays])
    assert not found[rays:]["began"].any() and not found[rays:]["steps"].any()


def test_some_elements_are_cleared_and_no_others(device: Any) -> None:
    stream = Stream(device, LIT, (5, 4))
    texels = np.arange(1, 1 + 4 * 5 * 2 * 4, dtype=np.float32).reshape(2, 4, 5, 4)
    stream.write_texels(list(texels))
    stream.clear([(1, 2, 3, 4), (5, 6, 7, 8)], 13)
    texels.reshape(2, 20, 4)[:, :13] = np.array([[(1, 2, 3, 4)], [(5, 6, 7, 8)]])
    np.testing.assert_array_equal(stream.read_texels(), np.moveaxis(texels, 0, 2))
    stream.release()


def iter_of(*steps: Any) -> Job:
    """A job of just these."""
    yield from (step for step in steps)  # a generator takes what is sent


# -- abandoning --------------------------------------------------------------------------------------------------------


def test_abandoned_between_steps_nothing_more_is_done(device, executor):
    stream, done = Stream(device, NUMBER, (4, 4)), []

    def job() -> Job:
        try:
            yield Clear(stream, [(1.0, 1.0, 0.0, 0.0)])
            yield Host(lambda: done.append("first"))
            yield Clear(stream, [(2.0, 2.0, 0.0, 0.0)])
        finally:
            done.append("ended")

    steps = executor.run(job())
    next(steps), next(steps)
    steps.close()
    assert done == ["first", "ended"]
    executor.count(3)
    assert executor.stats.draws == 0, "between two jobs the next one's"
    executor.count(1)
    assert finish(executor.run(iter_of())) == [] and executor.stats.draws == 4
    assert (stream.read()["n"] == 1).all()


def test_a_stream_is_cleared_as_a_whole_behind_scissors(device: Any) -> None:
    """Those of a smaller framebuffer that is in use, drawn to in a band as by a machine."""
    small, stream = Stream(device, NUMBER, (4, 3)), Stream(device, NUMBER, (9, 7))
    small.framebuffer.use()
    small.framebuffer.scissor = (1, 1, 2, 1)
    for value in (3, 5):
        small.framebuffer.use()
        stream.clear([(value, 1.0, 0.0, 0.0)])
        assert (stream.read()["n"] == value).all()
