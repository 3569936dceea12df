"""The page in the browser: the options that it offers, and the values that it takes for them."""

from __future__ import annotations

import re

from viewer.options.table import OPTIONS
from viewer.remote.page import OFFERED, choices, offered, resources
from viewer.viewport.controls.keymap import Keymap


def test_lists_have_their_defaults() -> None:
    """An option whose default is none has an empty entry, by which one comes back to the scene's own."""
    listed = {name: choices(name) for name in OFFERED if choices(name)}
    assert {"environment", "program", "tonemap"} <= listed.keys()
    for name, values in listed.items():
        default = OPTIONS[name].default
        assert ("" in values) == (default is None) and (default is None or str(default) in values or default is True)
        assert all(offered(name, value) for value in values) and not offered(name, "/etc/passwd")
    assert listed["environment"][0] == "" and {"sky", "studio"} <= set(listed["environment"])
    page = resources(Keymap(), (), "a scene").get("index.html").body.decode()
    for name, values in listed.items():
        field = re.search(rf'<select name="{name}">(.*?)</select>', page)
        assert field is not None and tuple(re.findall(r'value="(.*?)"', field[1])) == values
