"""The command's first lines: Ctrl-C ends it without a traceback until its modules are there. Ignored, it stays so."""

import _signal  # without the enumerations of `signal`, which take time
import sys

_WORDS = sys.orig_argv if sys.argv[:1] == ["-m"] else sys.argv[:1]
_NAMES = [word.replace("\\", "/").rpartition("/")[2].split(".")[0] for word in _WORDS]
if "raystream" in _NAMES and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
