"""The page in the browser: a full-size canvas, a status line, keys and options beside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape
from importlib.resources import files

from raystream.base.paths import assets
from raystream.options.table import OPTIONS
from raystream.remote.guard import File
from raystream.renderer.inputs.settings import registered
from raystream.viewport.browser import script
from raystream.viewport.controls.keymap import ACTIONS, MOUSE, Keymap

OFFERED = tuple(
    name for name, option in OPTIONS.items() if "page" in option.scope.offered
)  # options that can be chosen on the page
FINGERS = (("one finger", "orbit; look around in flight"), ("two fingers", "pan; pinch to dolly, in flight to go"))
LONGEST = 32  # characters of a value that is typed
SCRIPTS = ("renderview.js", "renderview-client.js")


def choices(name: str) -> tuple[str, ...]:
    """Values of an option that are listed on the page, an empty one for its default; none where it is typed."""
    option = registered()[name]
    words = option.value.choices or option.value.words
    return ("", *words) if words and option.value.default is None else words


def offered(name: str, value: str) -> bool:
    """Whether a page may give an option a value: one of its list, or a number that is typed. Others might name files of
    this machine."""
    return name in OFFERED and (value in choices(name) if choices(name) else len(value) <= LONGEST)


def resources(keymap: Keymap, performed: Collection[str], name: str) -> Mapping[str, File]:
    """The page's files by name. performed : names of the view's actions. name : of the scene."""
    core = files("rendercanvas.core")
    folder = assets() / "remote"
    scripts = {script_name: core.joinpath(script_name).read_text("utf-8") for script_name in SCRIPTS}
    scripts |= {name: script(name) for name in ("hands.js", "motion.js")}
    scripts |= {"page.js": (folder / "page.js").read_text("utf-8")}
    return {
        "index.html": File.text(
            "text/html", _page(keymap, performed, name, (folder / "index.html").read_text("utf-8"))
        ),
        "page.css": File.text("text/css", (folder / "page.css").read_text("utf-8")),
        "renderview.css": File.text("text/css", core.joinpath("renderview.css").read_text("utf-8")),
        **{script_name: File.text("text/javascript", text) for script_name, text in scripts.items()},
    }


def _page(keymap: Keymap, performed: Collection[str], name: str, template: str) -> str:
    rows, group = [], ""
    for kind, gestures in (("mouse", MOUSE), ("touch", FINGERS)):  # the page shows those of its device
        cells = "".join(f"<p>{_row(how, what)}</p>" for how, what in gestures if not how.startswith("drop"))
        rows.append(f'<section class="{kind}"><h2>{kind}</h2>{cells}</section>')
    for action in ACTIONS:
        if (action.name not in performed and not action.hold) or not keymap.keys(action):
            continue
        if action.group != group:
            group = action.group
            rows.append(f"<h2>{escape(group)}</h2>")
        row = _row(keymap.text(action), action.help)
        rows.append(f"<p>{row}</p>" if action.hold else f'<button name="{action.name}">{row}</button>')
    values = {"NAME": escape(name), "KEYS": "\n".join(rows), "OPTIONS": "\n".join(map(_field, OFFERED))}
    for word, value in values.items():
        template = template.replace(f"<!--{word}-->", value)
    return template


def _row(keys: str, text: str) -> str:
    return f"<kbd>{escape(keys)}</kbd><span>{escape(text)}</span>"


def _field(name: str) -> str:
    """An option as a list of its words, or to be typed; empty is its default."""
    field = f'<input name="{name}" size="6" autocomplete="off" spellcheck="false">'
    if listed := choices(name):
        items = "".join(f'<option value="{choice}">{choice or "of the scene"}</option>' for choice in listed)
        field = f'<select name="{name}">{items}</select>'
    return f'<label title="{escape(registered()[name].about, quote=True)}">{name}{field}</label>'
