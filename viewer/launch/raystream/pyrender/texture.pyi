"""Names of `viewer.pyrender.texture`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.texture import *  # noqa: F403
