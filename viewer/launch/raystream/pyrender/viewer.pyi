"""Names of `viewer.pyrender.viewer`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.viewer import *  # noqa: F403
