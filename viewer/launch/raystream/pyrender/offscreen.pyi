"""Names of `viewer.pyrender.offscreen`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.offscreen import *  # noqa: F403
