"""Names of `viewer.pyrender.scene`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.scene import *  # noqa: F403
