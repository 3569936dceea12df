"""The command ``raystream dataset``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from raystream.base.errors import ViewerError, printable

if TYPE_CHECKING:
    from argparse import Namespace


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
    from raystream.cli.dataset.pictures import pictures
    from raystream.cli.progress import TerminalProgress
    from raystream.dataset.folder import opened
    from raystream.dataset.recipe import read
    from raystream.dataset.stage import DatasetStage

    recipe, start_time = read(arguments.recipe), perf_counter()
    output = arguments.output or os.fspath(Path(arguments.recipe).with_suffix(""))
    if output == arguments.recipe:
        raise ViewerError(output, "is the recipe itself", "give a folder with -o")
    with TerminalProgress(arguments.quiet) as progress:
        progress(None, "loading models")
        stage = DatasetStage(recipe)
        for note in stage.notes if not arguments.quiet else ():
            progress.note(f"raystream: note: {note}")
        with opened(output, stage) as folder:
            before = len(folder.done)
            missing = [index for index in range(recipe.pictures) if index not in folder.done]
            if before and missing and not arguments.quiet:
                progress.note(f"raystream: note: goes on after {before:,} of {recipe.pictures:,} pictures")
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
