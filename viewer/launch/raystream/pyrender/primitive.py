"""Names of `viewer.pyrender.primitive`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.primitive import *  # noqa: F403
