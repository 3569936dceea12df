"""Names of `viewer.pyrender.camera`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.camera import *  # noqa: F403
