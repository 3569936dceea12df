"""Names of `viewer.pyrender.mesh`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.mesh import *  # noqa: F403
