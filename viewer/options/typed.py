"""Options as attributes and keywords. Their types are in ``typed.pyi``, made from the declarations."""

from __future__ import annotations

from raystream.options.table import keywords


class SettingValues:
    """A value for every option of the renderer, by its name."""

    __slots__ = ("_values",)


for _name in keywords("renderer"):
    setattr(SettingValues, _name, property(lambda self, name=_name: self._values[name]))
