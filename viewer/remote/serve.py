"""A view in a browser: serves one scene under a printed address."""

from __future__ import annotations

import errno
import secrets
import socket
import sys
from importlib.util import find_spec
from typing import Any

from raystream.base.errors import ViewerError
from raystream.options.commands import PORT
from raystream.remote.guard import LOOPBACK, Guard

NEEDED = ("rendercanvas", "uvicorn", "websockets", "simplejpeg")
INSTALL = "pip install 'raystream[remote]'"
TOKEN = 16  # random bytes
SIZE = (960, 540)  # of the bitmap, until a browser reports its size


def serve(scene: Any, port: int | str = "auto", host: str = "127.0.0.1", **options: Any) -> None:
    """Show a scene in a browser, until Ctrl-C or SIGTERM ends the process. Prints the address in one line.

    scene   : as of `raystream.show`. port : 0 is any free one; auto is `PORT`, or any. host : the address to listen at.
    options : as of `raystream.viewport.canvas.CanvasView`.

    Raises ViewerError for an unsupported scene, a port in use, and without the extra.
    """
    remote = Remote(scene, port, host, **options)
    print(f"Open {remote.address}", flush=True)
    if host not in LOOPBACK:
        note = "raystream: note: not encrypted, and open to all who have the address; a tunnel is safer: ssh -L"
        print(f"{note} {remote.port}:localhost:{remote.port}", file=sys.stderr)
    remote.run()


class Remote:
    """A scene's view with its server. port, host, options : as of `serve`."""

    def __init__(self, scene: Any, port: int | str = "auto", host: str = "127.0.0.1", **options: Any) -> None:
        missing = [name for name in NEEDED if find_spec(name) is None]
        if missing:
            listed = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
            raise ViewerError("--remote", f"needs {listed}", INSTALL)
        self.socket = _listening_socket(host, port)
        self.port: int = self.socket.getsockname()[1]
        self.token = secrets.token_urlsafe(TOKEN)
        self.address = page_address(host, self.port, self.token)
        from raystream.remote.canvas import RemoteCanvas

        try:
            self.canvas = RemoteCanvas(scene, options.pop("size", SIZE), **options)
        except BaseException:
            self.socket.close()
            raise
        self.guard = Guard(self.canvas.app, self.token, self.canvas.files(), local=host in LOOPBACK)

    def run(self) -> None:
        """Serve until a signal, then release everything."""
        from raystream.remote.server import Server

        try:
            Server(self.guard, self.canvas.view).listen([self.socket])
        finally:
            self.canvas.close()
            self.socket.close()


def page_address(host: str, port: int, token: str) -> str:
    """Where a browser on this machine finds the page."""
    reachable = "127.0.0.1" if host in ("", "0.0.0.0", "::") else host
    return f"http://{f'[{reachable}]' if ':' in reachable else reachable}:{port}/{token}/"


def _listening_socket(host: str, port: int | str) -> socket.socket:
    """A listening socket. Raises ViewerError for a port in use, and for an address of another machine."""
    candidates = [PORT, 0] if port == "auto" else [int(port)]
    for candidate in candidates:
        try:
            address = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
            listener = socket.socket(address[0], address[1])
        except OSError as error:
            raise ViewerError(
                f"--remote-host {host}", f"is not an address ({error.strerror})", "0.0.0.0 is all"
            ) from error
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address[4])
            listener.listen(16)
            return listener
        except OSError as error:
            listener.close()
            if candidate == candidates[-1]:
                if error.errno == errno.EADDRNOTAVAIL:
                    what = "is not an address of this machine"
                    raise ViewerError(f"--remote-host {host}", what, "0.0.0.0 is all of them") from error
                what = "is taken" if error.errno == errno.EADDRINUSE else f"is unavailable ({error.strerror})"
                raise ViewerError(f"--remote {port}", what, "another one; 0 is any that is free") from error
    raise AssertionError
