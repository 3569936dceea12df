"""``raystream diff``: two pictures, of files or rendered now, their figures, and a page that shows them."""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from raystream.base import part_file
from raystream.base.errors import ViewerError
from raystream.base.version import __version__
from raystream.cli import commands, rendering
from raystream.options.table import OPTIONS

if TYPE_CHECKING:
    from argparse import Namespace

    from raystream.cli.progress import TerminalProgress
    from raystream.film.files.compare import ComparedPicture, Comparison

LAYER_FIGURES = ("error", "largest", "share")  # figures that layers have, too
NAMES = {
    "flip": "FLIP, mean",
    "error": "relative error",
    "largest": "largest difference",
    "share": "pixels that differ",
    "specks": "specks",
    "holes": "holes",
    "fringes": "fringes",
}


def split_words(text: str) -> list[str]:
    """The words of a command in quotes. Raises ViewerError for quotes that do not end."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ViewerError(f"--render {text!r}", str(error).lower(), "mend its quotes") from None


def diff(arguments: Namespace, renders: Sequence[Namespace]) -> bool:
    """Compare two pictures and print their figures; False if the chosen one exceeds the limit. renders : arguments of
    those to be rendered now."""
    from raystream.film.files.compare import IDS, INSTALL, compare, has_flip, read

    pictures = len(arguments.pictures) + len(renders)
    if pictures != 2:
        what = f"{pictures} picture{'s' if pictures != 1 else ''}, and two are compared"
        raise ViewerError("diff", what, "such as raystream diff a.png b.png, or a.png --render 'cornell --spp 16'")
    for render in renders:
        _prepare_render(render, IDS if arguments.figure == "fringes" else (arguments.layer,))
    if arguments.output is not None:
        if not arguments.output.lower().endswith((".html", ".htm")) and not part_file.is_stream(arguments.output):
            raise ViewerError(arguments.output, "the report is a page", "a file name such as report.html")
        part_file.check_path(arguments.output)
    if arguments.limit is not None:
        if arguments.layer is not None and arguments.figure not in LAYER_FIGURES:
            flag = f"--figure {arguments.figure}"
            raise ViewerError(flag, "is of pictures, not of a layer", "take --figure error, largest or share")
        if arguments.figure == "flip" and not has_flip():
            raise ViewerError("FLIP", "flip-evaluator is not installed", f"{INSTALL}; or another --figure")
    compared = [read(path, arguments.layer) for path in arguments.pictures]
    if renders:
        from raystream.cli.progress import TerminalProgress

        with TerminalProgress(arguments.quiet or arguments.json) as progress:
            labelled = zip(arguments.render, renders, strict=True)
            compared += [_render(text, render, arguments, progress) for text, render in labelled]
    comparison = compare(compared[0], compared[1], arguments.layer, arguments.tolerance)
    value = figure(comparison, arguments.figure)
    if arguments.limit is not None and value is None:
        raise ViewerError(
            compared[0].name, f"holds no layer {' or '.join(IDS)}", "fringes are counted beside their edges"
        )
    within = arguments.limit is None or value is None or value <= arguments.limit
    if arguments.output is not None:
        part_file.write(arguments.output, page(comparison, rows(comparison), _verdict(comparison, arguments, within)))
    if arguments.json or not arguments.quiet:
        verdict = {"figure": arguments.figure, "limit": arguments.limit, "within": within}
        commands.print_report(
            {**data(comparison), **verdict}, lambda _: _lines(comparison, arguments, within), arguments.json
        )
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
        *((NAMES[name], _share_text(figure(comparison, name), layer)) for name in ("specks", "holes", "fringes")),
    ]


def _share_text(value: float | None, layer: bool) -> str:
    if value is None:
        return "not of a layer" if layer else "no layer of ids"
    return f"{value:.2%} of the pixels"


def _lines(comparison: Comparison, arguments: Namespace, within: bool) -> list[str]:
    first, second = comparison.names
    width = max(map(len, NAMES.values()))
    units = {"linear": "linear radiance", "displayed": "displayed values, 0 to 1"}.get(
        comparison.kind, f"layer {comparison.kind}"
    )
    lines = [f"{first} and {second}: {comparison.size[0]} x {comparison.size[1]}, {units}"]
    lines += [f"   {label:{width}}  {value}" for label, value in rows(comparison)]
    verdict = _verdict(comparison, arguments, within)
    return [*lines, verdict] if verdict else lines


def _verdict(comparison: Comparison, arguments: Namespace, within: bool) -> str:
    if arguments.limit is None:
        return ""
    value = figure(comparison, arguments.figure)
    side = "within" if within else "beyond"
    return f"{NAMES[arguments.figure]}: {value:.4g}, {side} the limit of {arguments.limit:g}"


def _prepare_render(arguments: Namespace, layers: Sequence[str | None]) -> None:
    """Have the arguments of ``--render`` ask for the compared layers, too; raises ViewerError for several scenes, and
    for options of a file that is not written."""
    if len(arguments.scenes) > 1:
        raise ViewerError("--render", f"names {len(arguments.scenes)} scenes", "one picture is compared")
    for name, option in OPTIONS.items():
        if option.scope.serves == "file" and name in arguments.typed and getattr(arguments, name):
            raise ViewerError(option.flag, "has no place in --render", "the picture is compared, not written")
    arguments.layers = tuple(dict.fromkeys([*arguments.layers, *filter(None, layers)]))


def _render(text: str, arguments: Namespace, diff_arguments: Namespace, progress: TerminalProgress) -> ComparedPicture:
    """The picture of ``raystream render`` with these arguments, as it would write it."""
    from raystream.film.files.compare import ComparedPicture, stacked_ids
    from raystream.film.layers import WORDS
    from raystream.options.table import check, keywords
    from raystream.renderer.renderer import Renderer

    check("layers", arguments.layers, WORDS)
    arguments.output, arguments.quiet = part_file.STANDARD_OUTPUT, diff_arguments.quiet or diff_arguments.json
    scene = commands.load_scene(arguments, progress)
    scene = commands.scene_at_moment(scene, arguments, progress)
    renderer = Renderer(scene, **commands.chosen_options(arguments, "renderer"), progress=progress)
    commands.print_notes([*renderer.notes, *rendering.fill_darkness(renderer, arguments)], arguments, progress)
    picture = renderer.render(**commands.chosen_options(arguments, "render"), progress=progress)
    renderer.release()
    typed = {name: getattr(arguments, name) for name in keywords("save") if name in arguments.typed}
    pixels = picture.linear if diff_arguments.layer is None else picture.layers[diff_arguments.layer]
    return ComparedPicture(f"render of {text}", pixels, ids=stacked_ids(picture.layers), **typed)


# -- the page: both pictures under a slider, their difference, and the figures, in one file ----------------------------

STYLE = """
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: #222;
  background: #fafafa; }
h1 { font-size: 1.2rem; } h2 { font-size: 1rem; margin-bottom: .3rem; } td { padding: .1rem 1.5rem .1rem 0; }
img { display: block; width: 100%; image-rendering: pixelated; background: #000; }
.pair { position: relative; } .pair img + img { position: absolute; inset: 0; clip-path: inset(0 0 0 50%); }
.pair i { position: absolute; top: 0; bottom: 0; left: 50%; width: 1px; background: #fff; }
input { width: 100%; margin: .4rem 0; } .beyond { color: #b00020; font-weight: 600; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818; } .beyond { color: #ff8a80; } }
"""
SCRIPT = """
const pair = document.querySelector(".pair"), slider = document.querySelector("input");
function split() {
  pair.children[1].style.clipPath = `inset(0 0 0 ${slider.value}%)`;
  pair.children[2].style.left = `${slider.value}%`;
}
slider.addEventListener("input", split);
pair.addEventListener("pointermove", event => {
  const box = pair.getBoundingClientRect();
  if (event.buttons) { slider.value = 100 * (event.clientX - box.left) / box.width; split(); }
});
pair.addEventListener("dragstart", event => event.preventDefault());
"""


def page(comparison: Comparison, rows: Sequence[tuple[str, str]], verdict: str) -> str:
    """The report as an HTML page, which loads no other file. rows : (name, value) of the figures."""
    from raystream.film.files.image import png

    def picture(name: str) -> str:
        source = b64encode(png(comparison.shown[name], {})).decode()
        return f'<img alt="{escape(titles[name])}" src="data:image/png;base64,{source}">'

    measure = (
        "FLIP of each pixel" if comparison.flip is not None else "the largest difference in each pixel, by the largest"
    )
    titles = {"first": comparison.names[0], "second": comparison.names[1], "difference": f"Difference: {measure}"}
    table = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in rows)
    beyond = ' class="beyond"' if "beyond" in verdict else ""
    figures = "".join(
        f"<figure>{picture(name)}<figcaption>{escape(titles[name])}</figcaption></figure>" for name in titles
    )
    width, height = comparison.size
    title = f"{comparison.names[0]} and {comparison.names[1]}"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="generator" content="raystream {__version__}"><title>{escape(title)}</title>
<style>{STYLE}</style></head><body>
<h1>{escape(title)}</h1>
<p>{width} x {height} pixels, {escape(comparison.kind)}</p>
<table>{table}</table>
<p{beyond}>{escape(verdict)}</p>
<h2>Left: {escape(titles["first"])}; right: {escape(titles["second"])}</h2>
<div class="pair" style="max-width: {max(2 * width, 640)}px">{picture("first")}{picture("second")}<i></i></div>
<input type="range" min="0" max="100" value="50" step="0.1" aria-label="where the second picture begins"
  style="max-width: {max(2 * width, 640)}px">
<div class="side">{figures}</div>
<script>{SCRIPT}</script></body></html>"""
