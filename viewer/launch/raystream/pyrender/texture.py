"""Names of `viewer.pyrender.texture`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.texture import *  # noqa: F403
