"""Names of `viewer.pyrender.offscreen`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.offscreen import *  # noqa: F403
