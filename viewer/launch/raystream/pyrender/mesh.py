"""Names of `viewer.pyrender.mesh`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.mesh import *  # noqa: F403
