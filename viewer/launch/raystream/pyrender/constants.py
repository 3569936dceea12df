"""Names of `viewer.pyrender.constants`, for checkers of types: at run time that module has this one's name, too."""

from viewer.pyrender.constants import *  # noqa: F403
