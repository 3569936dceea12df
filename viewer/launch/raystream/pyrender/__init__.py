"""pyrender's names over the renderer: ``import raystream.pyrender as pyrender``, see `viewer.pyrender`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from raystream import inner

if TYPE_CHECKING:
    # Modules that a script may name without an import of their own, as of pyrender.
    import raystream.pyrender.camera
    import raystream.pyrender.constants
    import raystream.pyrender.light
    import raystream.pyrender.material
    import raystream.pyrender.mesh
    import raystream.pyrender.node
    import raystream.pyrender.offscreen
    import raystream.pyrender.primitive
    import raystream.pyrender.scene
    import raystream.pyrender.texture
    import raystream.pyrender.viewer  # noqa: F401
    from viewer.pyrender import *  # noqa: F403
    from viewer.pyrender import __all__ as __all__
    from viewer.pyrender import __version__ as __version__

inner()  # the package that this one was made with, whatever else is called viewer

import viewer.pyrender  # noqa: E402, F401

# This module is that package, and its modules have these names, too (``raystream.pyrender.constants``).
for _name, _module in list(sys.modules.items()):
    if _name == "viewer.pyrender" or _name.startswith("viewer.pyrender."):
        sys.modules[_name.replace("viewer", __name__.partition(".")[0], 1)] = _module
