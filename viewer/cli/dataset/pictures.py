"""A dataset's pictures by one process, by several side by side, or by a cluster."""

from __future__ import annotations

import traceback
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from viewer.cli.faults import explained
from viewer.cli.workers import answers

if TYPE_CHECKING:
    from viewer.cli.progress import Progress
    from viewer.dataset.picture import Made, Maker
    from viewer.dataset.recipe import Recipe
    from viewer.dataset.stage import Stage

MAKER = "viewer.cli.dataset.pictures:Pictures"
Answer = tuple["Made | None", str]  # or a fault


def pictures(stage: Stage, numbers: Sequence[int], arguments: Namespace, progress: Progress) -> Iterator[Answer]:
    """The pictures of these numbers, in any order, or the fault of each."""
    jobs = min(arguments.jobs, len(numbers))
    if not numbers:
        return
    if arguments.cluster is not None:
        from viewer.farm.datasets import render_dataset

        def told(line: str) -> None:
            if not arguments.quiet:
                progress.note(f"raystream: note: {line}")

        for made in render_dataset(stage, numbers, arguments.cluster, arguments.mix_builds, told):
            yield made, ""
        return
    common = {"recipe": stage.recipe, "debug": arguments.debug}
    tasks = [Namespace(number=number, scene=f"picture {number}", **common) for number in numbers]
    if jobs > 1:
        for _, found, fault in answers(tasks, jobs, MAKER):
            yield found or None, fault
        return
    own = Pictures(stage)
    try:
        for task in tasks:
            yield own.render(task, progress)
    finally:
        own.release()


class Pictures:
    """Pictures one after the other by one renderer."""

    def __init__(self, stage: Stage | None = None) -> None:
        """stage : of the first recipe; another one's is read."""
        self._stage = stage
        self._maker: Maker | None = None
        self._recipe: Recipe | None = None if stage is None else stage.recipe

    def render(self, task: Namespace, progress: Progress) -> Answer:
        """The picture of a task, or its fault."""
        from viewer.dataset.picture import Maker
        from viewer.dataset.stage import Stage

        try:
            if self._stage is None or self._recipe != task.recipe:
                self.release()
                self._stage, self._recipe = Stage(task.recipe), task.recipe
            if self._maker is None:
                self._maker = Maker(self._stage)
            return self._maker.make(task.number), ""
        except Exception as error:
            if task.debug:
                traceback.print_exc()
            self.release()
            return None, f"{task.scene}: {explained(error)[1]}"

    def release(self) -> None:
        """Free the renderer."""
        if self._maker is not None:
            self._maker.release()
            self._maker = None
