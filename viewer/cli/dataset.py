"""``raystream dataset``: annotated pictures by a recipe, by one process, by several or by a cluster."""

from __future__ import annotations

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from raystream.base.errors import ViewerError, printable
from raystream.cli.commands import exit_code_and_message
from raystream.cli.workers import results

if TYPE_CHECKING:
    from raystream.cli.progress import TerminalProgress
    from raystream.dataset.picture import DatasetRenderer, FinishedPicture
    from raystream.dataset.stage import DatasetStage


def dataset(arguments: Namespace) -> bool:
    """``raystream dataset``: make the missing pictures of the recipe, and the lists of all."""
    if arguments.recipe is None:
        raise ViewerError("dataset", "the recipe is missing", "such as raystream dataset shoes.toml")
    if arguments.cluster is not None:
        from raystream.farm.cluster import check_cluster

        check_cluster(arguments.cluster)
        if "jobs" in arguments.typed:
            raise ViewerError("--jobs", "are processes of this machine, in place of --cluster", "give one of them")
    elif arguments.mix_builds:
        raise ViewerError("--mix-builds", "needs --cluster", "such as --cluster local")
    from raystream.cli.progress import TerminalProgress
    from raystream.dataset.folder import open_folder
    from raystream.dataset.recipe import read_recipe
    from raystream.dataset.stage import DatasetStage

    recipe, start_time = read_recipe(arguments.recipe), perf_counter()
    output = arguments.output or os.fspath(Path(arguments.recipe).with_suffix(""))
    if output == arguments.recipe:
        raise ViewerError(output, "is the recipe itself", "give a folder with -o")
    with TerminalProgress(arguments.quiet) as progress:
        progress(None, "loading models")
        stage = DatasetStage(recipe)
        for note in stage.notes if not arguments.quiet else ():
            progress.note(f"raystream: note: {note}")
        with open_folder(output, stage) as folder:
            resumed = len(folder.done)
            missing = [index for index in range(recipe.pictures) if index not in folder.done]
            if resumed and missing and not arguments.quiet:
                progress.note(f"raystream: note: goes on after {resumed:,} of {recipe.pictures:,} pictures")
            try:
                for picture in pictures(stage, missing, arguments, progress):
                    folder.add(picture)
                    fraction = len(folder.done) / recipe.pictures
                    progress(fraction, f"{len(folder.done):,} of {recipe.pictures:,} pictures")
            except KeyboardInterrupt as stop:
                done = f"{len(folder.done):,} of {recipe.pictures:,} pictures"
                stop.args = (f"stopped after {done}; the same command goes on",)
                raise
            progress(1.0, "writing annotations")
            folder.finish()
            drivers = {str(record["driver"]) for record in folder.done.values()}
    if not arguments.quiet:
        if len(drivers) > 1:
            print("raystream: note: pictures by several drivers, each with bits of its own", file=sys.stderr)
        seconds, (width, height) = perf_counter() - start_time, recipe.size
        pace = f", {seconds / len(missing):.2f} s a picture" if missing else ""
        count, kinds = f"{recipe.pictures:,} picture{'s'[: recipe.pictures != 1]}", len(stage.kinds)
        summary = f"{count} of {width} x {height}, {kinds:,} object{'s'[: kinds != 1]}"
        print(printable(f"{output}: {summary}; {len(missing):,} made in {seconds:.2f} s{pace}"))
    return True


RENDERER = "raystream.cli.dataset:TaskRenderer"  # of workers


def pictures(
    stage: DatasetStage, indices: Sequence[int], arguments: Namespace, progress: TerminalProgress
) -> Iterator[FinishedPicture]:
    """The pictures of these indices, in any order. Raises ViewerError for the first that fails in another process, and
    the errors of `DatasetRenderer` in this one."""
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
        for _, picture, fault in results(tasks, jobs, RENDERER):
            if fault:
                where, _, what = fault.partition(": ")
                raise ViewerError(where, what, "the same command goes on")
            yield picture
        return
    from raystream.dataset.picture import DatasetRenderer

    finished = 0

    def report_placement(copies: int, total: int) -> None:
        progress(
            (stage.recipe.pictures - len(indices) + finished) / stage.recipe.pictures,
            f"{copies:,} of {total:,} copies placed",
        )

    renderer = DatasetRenderer(stage, report_placement)
    try:
        for finished, index in enumerate(indices):  # noqa: B007  # told by `report_placement`
            yield renderer.render(index)
    finally:
        renderer.release()


class TaskRenderer:
    """The renderer of a worker's process: pictures one after the other."""

    def __init__(self) -> None:
        self._renderer: DatasetRenderer | None = None

    def render(self, task: Namespace, progress: TerminalProgress) -> tuple[FinishedPicture | None, str]:
        """The picture of a task, or its fault."""
        from raystream.dataset.picture import DatasetRenderer
        from raystream.dataset.stage import DatasetStage

        try:
            if self._renderer is None:
                self._renderer = DatasetRenderer(DatasetStage(task.recipe))
            return self._renderer.render(task.index), ""
        except Exception as error:
            if task.debug:
                traceback.print_exc()
            return None, f"{task.scene}: {exit_code_and_message(error)[1]}"
