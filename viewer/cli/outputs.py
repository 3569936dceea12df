"""Whether a picture, or frames, can be written where they are to go: found out before any work."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from raystream.base.errors import ViewerError
from raystream.film.files.checkpoint import AUTO
from raystream.options.table import OPTIONS

if TYPE_CHECKING:
    from argparse import Namespace

STANDARD_OUTPUT = "-"


def check_output(arguments: Namespace) -> None:
    """Find out before any work whether the picture, or the frames, can be written; refuse options that do nothing."""
    from raystream.film.files.image import check_alpha, check_path
    from raystream.film.files.movie import check_output as check_movie
    from raystream.film.files.movie import is_movie
    from raystream.renderer.device.footprint import check_memory

    _check_cluster(arguments)
    if "motion_keys" in arguments.typed and arguments.shutter is None:
        raise ViewerError("--motion-keys", "needs --shutter", "such as --shutter 0,0.5")
    # As little as any program takes: the renderer, which knows more, looks again.
    check_memory(arguments.size, progressive=False, layers=arguments.layers)
    if arguments.frames is not None:
        if arguments.moment is not None:
            raise ViewerError("--moment", "is for one picture, and --frames for many", "give one of them")
        if arguments.resume is not None:
            raise ViewerError("--resume", "is for one picture, and --frames for many", "give one of them")
        if arguments.output == STANDARD_OUTPUT:
            raise ViewerError("--output -", "is for one picture, and --frames for many", "such as -o frame_%04d.png")
        check_movie(arguments.output, arguments.frames, arguments.size, arguments.fps, arguments.layers)
        if arguments.background == "transparent" and is_movie(arguments.output):
            raise ViewerError(arguments.output, "a movie has no alpha channel", "such as -o frame_%04d.png")
        return
    if arguments.output == STANDARD_OUTPUT:
        _check_standard_output(arguments)
    elif is_movie(arguments.output):
        raise ViewerError(arguments.output, "a movie needs --frames", "such as --frames 0-119")
    if arguments.turntable:
        raise ViewerError("--turntable", "needs --frames", "such as --frames 0-119 -o frame_%04d.png")
    if arguments.shutter is not None and arguments.moment is None:
        raise ViewerError("--shutter", "needs --moment or --frames", "such as --moment 1.5")
    if arguments.animation is not None and arguments.moment is None:
        raise ViewerError("--animation", "needs --moment or --frames", "such as --moment 1.5")
    if arguments.resume not in (None, AUTO) and not os.path.isfile(arguments.resume):
        raise ViewerError(arguments.resume, "there is no such file to go on from", "an EXR that a render has left")
    if arguments.output != STANDARD_OUTPUT:
        check_path(arguments.output, arguments.layers)
        if arguments.background == "transparent":
            check_alpha(arguments.output)


def _check_cluster(arguments: Namespace) -> None:
    if arguments.cluster is not None:
        from raystream.farm.cluster import check_cluster

        check_cluster(arguments.cluster)
        if arguments.frames is not None and "unit" in arguments.typed:
            raise ViewerError("--unit", "is for one picture: of many, a frame is the unit", "leave it out")
        return
    for name, option in OPTIONS.items():  # a switch that is off is typed, too
        if option.scope.needs == "cluster" and name in arguments.typed and getattr(arguments, name):
            raise ViewerError(option.flag, "needs --cluster", "such as --cluster local")


def _check_standard_output(arguments: Namespace) -> None:
    if sys.stdout is None or sys.stdout.isatty():
        what = "standard output is closed" if sys.stdout is None else "standard output is a terminal"
        raise ViewerError("--output -", what, "send it to a file or a program: -o - > picture.png")
    if arguments.layers:
        raise ViewerError("--output -", f"a PNG cannot hold the layers {', '.join(arguments.layers)}", "save as .exr")
