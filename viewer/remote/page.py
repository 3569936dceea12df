"""The page that a browser gets: the canvas over all of it, a line of what goes on, keys and options beside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape
from importlib.resources import files

from viewer.base.paths import assets
from viewer.window.input.actions import ACTIONS, MOUSE, Keymap

# Options that can be chosen on the page, and their values.
CHOICES = {
    "program": ("path", "whitted", "photon", "shadow", "cast"),
    "denoise": ("auto", "none", "shader"),
    "tonemap": ("agx", "aces", "reinhard", "none"),
    "environment": ("", "sky", "studio", "none"),
    "shadows": ("on", "off"),
    "reflections": ("on", "off"),
    "refractions": ("on", "off"),
}
NUMBERS = ("spp", "depth", "exposure")
SCRIPTS = ("renderview.js", "renderview-client.js")


def resources(keymap: Keymap, performed: Collection[str], name: str) -> Mapping[str, tuple[str, str]]:
    """The page's files by name, with their types. performed : names of the actions that the view has. name : of the
    scene."""
    core = files("rendercanvas.core")
    scripts = {each: core.joinpath(each).read_text(encoding="utf-8") for each in SCRIPTS}
    own = assets() / "remote"
    return {
        "index.html": ("text/html", _page(keymap, performed, name, (own / "index.html").read_text(encoding="utf-8"))),
        "page.js": ("text/javascript", (own / "page.js").read_text(encoding="utf-8")),
        "page.css": ("text/css", (own / "page.css").read_text(encoding="utf-8")),
        "renderview.css": ("text/css", core.joinpath("renderview.css").read_text(encoding="utf-8")),
        **{each: ("text/javascript", text) for each, text in scripts.items()},
    }


def _page(keymap: Keymap, performed: Collection[str], name: str, template: str) -> str:
    here = [action for action in ACTIONS if action.name in performed or action.hold]
    rows = [(how, what) for how, what in MOUSE if not how.startswith("drop")]
    rows += [(keymap.text(action), action.help) for action in here if keymap.keys(action)]
    keys = "\n".join(f"<tr><th>{escape(key)}</th><td>{escape(text)}</td></tr>" for key, text in rows)
    fields = []
    for option, choices in CHOICES.items():
        listed = "".join(f'<option value="{each}">{each or "as the scene has it"}</option>' for each in choices)
        fields.append(f'<label>{option}<select name="{option}">{listed}</select></label>')
    fields += [f'<label>{option}<input name="{option}" size="6"></label>' for option in NUMBERS]
    values = {"NAME": escape(name), "KEYS": keys, "OPTIONS": "\n".join(fields)}
    for word, value in values.items():
        template = template.replace(f"<!--{word}-->", value)
    return template
