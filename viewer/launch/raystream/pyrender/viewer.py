"""Names of `viewer.pyrender.viewer`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.viewer import *  # noqa: F403
