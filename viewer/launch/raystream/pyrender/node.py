"""Names of `viewer.pyrender.node`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.node import *  # noqa: F403
