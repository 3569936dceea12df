"""Names of `viewer.pyrender.material`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.material import *  # noqa: F403
