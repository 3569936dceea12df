"""A dataset's pictures by one process, by several side by side, or by a cluster."""

from __future__ import annotations

import traceback
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from raystream.base.errors import ViewerError
from raystream.cli.commands import explained
from raystream.cli.workers import answers

if TYPE_CHECKING:
    from raystream.cli.progress import TerminalProgress
    from raystream.dataset.picture import FinishedPicture, Maker
    from raystream.dataset.stage import DatasetStage

MAKER = "raystream.cli.dataset.pictures:Pictures"


def pictures(
    stage: DatasetStage, indices: Sequence[int], arguments: Namespace, progress: TerminalProgress
) -> Iterator[FinishedPicture]:
    """The pictures of these indices, in any order. Raises ViewerError for the first that fails in another process, and
    the errors of `Maker` in this one."""
    if not indices:
        return
    if arguments.cluster is not None:
        from raystream.farm.pictures import render_dataset

        def notify(line: str) -> None:
            if not arguments.quiet:
                progress.note(f"raystream: note: {line}")

        yield from render_dataset(stage, indices, arguments.cluster, arguments.mix_builds, notify)
        return
    jobs = min(arguments.jobs, len(indices))
    if jobs > 1:
        common = {"recipe": stage.recipe, "debug": arguments.debug}
        tasks = [Namespace(index=index, scene=f"picture {index}", **common) for index in indices]
        for _, picture, fault in answers(tasks, jobs, MAKER):
            if fault:
                where, _, what = fault.partition(": ")
                raise ViewerError(where, what, "the same command goes on")
            yield picture
        return
    from raystream.dataset.picture import Maker

    finished = 0

    def placing(copies: int, total: int) -> None:
        progress(
            (stage.recipe.pictures - len(indices) + finished) / stage.recipe.pictures,
            f"{copies:,} of {total:,} copies placed",
        )

    maker = Maker(stage, placing)
    try:
        for finished, index in enumerate(indices):  # noqa: B007  # told by `placing`
            yield maker.make(index)
    finally:
        maker.release()


class Pictures:
    """Of a worker's process: pictures one after the other by one renderer."""

    def __init__(self) -> None:
        self._maker: Maker | None = None

    def render(self, task: Namespace, progress: TerminalProgress) -> tuple[FinishedPicture | None, str]:
        """The picture of a task, or its fault."""
        from raystream.dataset.picture import Maker
        from raystream.dataset.stage import DatasetStage

        try:
            if self._maker is None:
                self._maker = Maker(DatasetStage(task.recipe))
            return self._maker.make(task.index), ""
        except Exception as error:
            if task.debug:
                traceback.print_exc()
            return None, f"{task.scene}: {explained(error)[1]}"
