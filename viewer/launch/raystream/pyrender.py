"""pyrender's names over the renderer: ``import raystream.pyrender as pyrender``, see `viewer.pyrender`."""

from __future__ import annotations

from raystream import inner

inner()  # the package that this one was made with, whatever else is called viewer

from viewer.pyrender import *  # noqa: E402, F403
from viewer.pyrender import __all__ as __all__  # noqa: E402
from viewer.pyrender import __version__ as __version__  # noqa: E402
