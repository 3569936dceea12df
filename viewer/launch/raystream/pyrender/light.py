"""Names of `viewer.pyrender.light`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.light import *  # noqa: F403
