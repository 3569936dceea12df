"""``raystream diff``: two pictures, of files or rendered now, their figures, and a page that shows them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from raystream.base import part_file
from raystream.base.errors import ViewerError
from raystream.cli import commands, outputs, rendering
from raystream.options.table import OPTIONS

if TYPE_CHECKING:
    from argparse import Namespace

    from raystream.cli.progress import TerminalProgress
    from raystream.film.files.compare import ComparedPicture, Comparison

OF_LAYERS = ("error", "largest", "share")  # figures that layers have, too
NAMES = {
    "flip": "FLIP, mean",
    "error": "relative error",
    "largest": "largest difference",
    "share": "pixels that differ",
    "specks": "specks",
    "holes": "holes",
    "fringes": "fringes",
}


def split(text: str) -> list[str]:
    """The words of a command in quotes. Raises ViewerError for quotes that do not end."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ViewerError(f"--render {text!r}", str(error).lower(), "mend its quotes") from None


def diff(arguments: Namespace, renders: Sequence[Namespace]) -> bool:
    """Whether the second picture is within the limit of the first; prints the figures."""
    from raystream.film.files.compare import IDS, INSTALL, compare, has_flip, read

    pictures = len(arguments.pictures) + len(renders)
    if pictures != 2:
        what = f"{pictures} picture{'s' if pictures != 1 else ''}, and two are compared"
        raise ViewerError("diff", what, "such as raystream diff a.png b.png, or a.png --render 'cornell --spp 16'")
    for render in renders:
        _check_render(render, IDS if arguments.figure == "fringes" else (arguments.layer,))
    if arguments.output is not None:
        if not arguments.output.lower().endswith((".html", ".htm")) and not part_file.is_stream(arguments.output):
            raise ViewerError(arguments.output, "the report is a page", "a file name such as report.html")
        part_file.check_path(arguments.output)
    if arguments.limit is not None:
        if arguments.layer is not None and arguments.figure not in OF_LAYERS:
            flag = f"--figure {arguments.figure}"
            raise ViewerError(flag, "is of pictures, not of a layer", "take --figure error, largest or share")
        if arguments.figure == "flip" and not has_flip():
            raise ViewerError("FLIP", "flip-evaluator is not installed", f"{INSTALL}; or another --figure")
    shown = [read(path, arguments.layer) for path in arguments.pictures]
    if renders:
        from raystream.cli.progress import TerminalProgress

        with TerminalProgress(arguments.quiet or arguments.json) as progress:
            labelled = zip(arguments.render, renders, strict=True)
            shown += [_rendered(text, render, arguments, progress) for text, render in labelled]
    comparison = compare(shown[0], shown[1], arguments.layer, arguments.tolerance)
    value = figure(comparison, arguments.figure)
    if arguments.limit is not None and value is None:
        raise ViewerError(shown[0].name, f"holds no layer {' or '.join(IDS)}", "fringes are counted beside their edges")
    within = arguments.limit is None or value is None or value <= arguments.limit
    if arguments.output is not None:
        from raystream.cli.compare_page import page

        part_file.write(arguments.output, page(comparison, rows(comparison), _verdict(comparison, arguments, within)))
    if arguments.json or not arguments.quiet:
        verdict = {"figure": arguments.figure, "limit": arguments.limit, "within": within}
        commands.emit({**data(comparison), **verdict}, lambda _: _lines(comparison, arguments, within), arguments.json)
    return within


def data(comparison: Comparison) -> dict[str, Any]:
    """The figures as plain data, under the names of the options."""
    named = ("kind", "size", "flip", "error", "largest", "at", "share", "tolerance")
    spots = {name: figure(comparison, name) for name in ("specks", "holes", "fringes")}
    return {"pictures": comparison.names, **{name: getattr(comparison, name) for name in named}, **spots}


def figure(comparison: Comparison, name: str) -> float | None:
    """A figure by its name in `NAMES`; None where the pictures have none."""
    return getattr(comparison if hasattr(comparison, name) else comparison.blemishes, name, None)


def rows(comparison: Comparison) -> list[tuple[str, str]]:
    """The figures in words: (name, value)."""
    from raystream.film.files.compare import INSTALL, has_flip

    layer = comparison.blemishes is None
    absent = "not of a layer" if has_flip() else f"flip-evaluator is not installed: {INSTALL}"
    return [
        (NAMES["flip"], absent if comparison.flip is None else f"{comparison.flip:.4g}"),
        (NAMES["error"], f"{comparison.error:.4g}"),
        (NAMES["largest"], f"{comparison.largest:.4g} at column {comparison.at[0]}, row {comparison.at[1]}"),
        (NAMES["share"], f"{comparison.share:.2%} by more than {comparison.tolerance:g}"),
        *((NAMES[name], _share(figure(comparison, name), layer)) for name in ("specks", "holes", "fringes")),
    ]


def _share(value: float | None, layer: bool) -> str:
    if value is None:
        return "not of a layer" if layer else "no layer of ids"
    return f"{value:.2%} of the pixels"


def _lines(comparison: Comparison, arguments: Namespace, within: bool) -> list[str]:
    first, second = comparison.names
    width = max(map(len, NAMES.values()))
    what = {"linear": "linear radiance", "displayed": "displayed values, 0 to 1"}.get(
        comparison.kind, f"layer {comparison.kind}"
    )
    said = [f"{first} and {second}: {comparison.size[0]} x {comparison.size[1]}, {what}"]
    said += [f"   {label:{width}}  {value}" for label, value in rows(comparison)]
    verdict = _verdict(comparison, arguments, within)
    return [*said, verdict] if verdict else said


def _verdict(comparison: Comparison, arguments: Namespace, within: bool) -> str:
    if arguments.limit is None:
        return ""
    value = figure(comparison, arguments.figure)
    side = "within" if within else "beyond"
    return f"{NAMES[arguments.figure]}: {value:.4g}, {side} the limit of {arguments.limit:g}"


def _check_render(arguments: Namespace, layers: Sequence[str | None]) -> None:
    if len(arguments.scenes) > 1:
        raise ViewerError("--render", f"names {len(arguments.scenes)} scenes", "one picture is compared")
    for name, option in OPTIONS.items():
        if option.scope.serves == "file" and name in arguments.typed and getattr(arguments, name):
            raise ViewerError(option.flag, "has no place in --render", "the picture is compared, not written")
    arguments.layers = tuple(dict.fromkeys([*arguments.layers, *filter(None, layers)]))


def _rendered(
    text: str, arguments: Namespace, diff_arguments: Namespace, progress: TerminalProgress
) -> ComparedPicture:
    """The picture of ``raystream render`` with these arguments, as it would write it."""
    from raystream.film.files.compare import ComparedPicture, stacked_ids
    from raystream.film.layers import WORDS
    from raystream.options.table import check, keywords
    from raystream.renderer.renderer import Renderer

    check("layers", arguments.layers, WORDS)
    arguments.output, arguments.quiet = outputs.STANDARD_OUTPUT, diff_arguments.quiet or diff_arguments.json
    scene = commands.load_scene(arguments, progress)
    scene = commands.at_moment(scene, arguments, progress)
    renderer = Renderer(scene, **commands.chosen_options(arguments, "renderer"), progress=progress)
    commands.tell([*renderer.notes, *rendering.fill_darkness(renderer, arguments)], arguments, progress)
    picture = renderer.render(**commands.chosen_options(arguments, "render"), progress=progress)
    renderer.release()
    typed = {name: getattr(arguments, name) for name in keywords("save") if name in arguments.typed}
    pixels = picture.linear if diff_arguments.layer is None else picture.layers[diff_arguments.layer]
    return ComparedPicture(f"render of {text}", pixels, ids=stacked_ids(picture.layers), **typed)
