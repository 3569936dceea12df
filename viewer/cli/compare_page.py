"""The page of ``raystream diff -o``: one file with both pictures under a slider, their difference, and the figures."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from raystream.base.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raystream.film.files.compare import Comparison

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
    """The whole page, HTML; it loads nothing."""
    from raystream.film.files.image import png

    def picture(which: str) -> str:
        source = b64encode(png(comparison.shown[which], {})).decode()
        return f'<img alt="{escape(titles[which])}" src="data:image/png;base64,{source}">'

    of = "FLIP of each pixel" if comparison.flip is not None else "the largest difference in each pixel, by the largest"
    titles = {"first": comparison.names[0], "second": comparison.names[1], "difference": f"Difference: {of}"}
    table = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in rows)
    beyond = ' class="beyond"' if "beyond" in verdict else ""
    figures = "".join(
        f"<figure>{picture(which)}<figcaption>{escape(titles[which])}</figcaption></figure>" for which in titles
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
