"""Raystream: ray tracing as stream programs in OpenGL fragment shaders.

>>> import raystream
>>> raystream.render("bunny.ply", size=(512, 512), spp=64).save("bunny.png")
>>> raystream.show("bunny.ply")

Both take a file, a built-in scene, arrays, and objects of trimesh, PyVista and Open3D; ``help(raystream.Renderer)``
explains every option. The public names are those of ``__init__.pyi``, imported when asked for.
"""

import _signal  # without the enumerations of `signal`, which take time
import sys

if __name__ != "raystream":  # a checkout's folder by its own name
    if sys.argv[:1] != ["-m"]:
        raise ImportError(f"the package is called raystream: import raystream, not {__name__}", name=__name__)
    sys.modules["raystream"], __name__ = sys.modules[__name__], "raystream"  # python -m viewer

# Ctrl-C ends the command without a traceback until its modules are there. Ignored, it stays so.
_words = sys.orig_argv if sys.argv[:1] == ["-m"] else sys.argv[:1]
_command = {"raystream", "viewer"} & {word.replace("\\", "/").rpartition("/")[2].split(".")[0] for word in _words}
if _command and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

from lazy_loader import attach_stub  # noqa: E402

__getattr__, __dir__, __all__ = attach_stub("raystream", __file__)
