"""Pointer and key input of a viewport: drags, the wheel and held keys, whoever reports them."""

from __future__ import annotations

from raystream.viewport.context import ViewportContext
from raystream.viewport.controls.keymap import MODIFIERS, Action
from raystream.viewport.viewport import choose_pivot

LEFT, RIGHT, MIDDLE = 0, 1, 2  # buttons of the mouse, GLFW's numbers
SHIFT, CONTROL = MODIFIERS["Shift"], MODIFIERS["Ctrl"]
TURNING = 0.4  # degrees that a pixel of a drag turns the environment: once round in 900 pixels


class PointerInput:
    """Keys and the mouse, over the picture. Places are of the picture, in the units of the view's ``size``; ``mods``
    are bits of `MODIFIERS`."""

    def __init__(self, context: ViewportContext) -> None:
        self.context, self.view = context, context.view
        self._pivoted = False  # the drag's pivot is chosen

    def key(self, text: str, down: bool, repeated: bool = False) -> None:
        """A key goes down, by its text as of `parse_key`, maybe ``repeated`` by the keyboard; or up."""
        view = self.view
        if down:
            view.preferences.hint = False
        if down and not repeated and self.context.editing.key(text):
            return
        action = view.keymap.lookup(text) if down else view.keymap.released(text)
        if action is None:
            return
        if action.hold:
            self._hold(action, down, repeated)
        elif down and (action.repeat or not repeated):
            view.actions.perform(action.name)

    def _hold(self, action: Action, down: bool, repeated: bool) -> None:
        if repeated:
            return
        motion, controller = action.name.removeprefix("fly."), self.view.controller
        if down:
            self.view.input.motions.add(motion)
        else:
            self.view.input.motions.discard(motion)
        if controller is not None:
            (controller.press if down else controller.release)(motion)

    def clicked(self, button: int) -> bool:
        """A button goes down while something follows the mouse; whether it was for that."""
        return button in (LEFT, RIGHT) and self.context.editing.button(button == LEFT)

    def press(self, button: int, mods: int) -> None:
        """A drag begins, unless one is in progress."""
        view = self.view
        if view.input.drag is not None:
            return
        view.input.drag, self._pivoted = (button, mods), False
        if _moves_light(view.input.drag):
            view.attempt(self.context.editing.drag_light)

    def release(self, button: int) -> None:
        """A button goes up."""
        if self.view.input.drag is not None and self.view.input.drag[0] == button:
            self.end()

    def end(self) -> None:
        """The drag in progress ends."""
        drag, self.view.input.drag = self.view.input.drag, None
        if drag is not None and _moves_light(drag):
            self.context.editing.end_drag()

    def move(self, x: float, y: float) -> None:
        """The cursor comes to another place; a drag goes on."""
        view, controller = self.view, self.view.controller
        dx, dy = x - view.input.cursor[0], y - view.input.cursor[1]
        view.input.cursor = (x, y)
        self.context.editing.follow()
        if view.input.drag is None or controller is None:
            return
        button, mods = view.input.drag
        if _moves_light(view.input.drag):
            return
        if button == MIDDLE or (button == LEFT and mods & SHIFT):
            controller.pan(dx, dy, max(1, view.area.size[1]))
        elif button == RIGHT and mods & SHIFT:
            self.context.editing.turn_environment(dx * TURNING)
        elif button == RIGHT and controller.mode == "orbit":
            controller.dolly(1.01**dy, None)
        elif mods & CONTROL:
            controller.roll(dx * 0.01)
        elif controller.mode == "orbit":
            if not self._pivoted:  # a click alone changes nothing
                self._pivoted = True
                view.attempt(lambda: choose_pivot(view))
            controller.orbit(dx, dy)
        else:
            controller.look(dx, dy)

    def wheel(self, x: float, y: float, steps: float) -> None:
        """Dolly to the cursor, which is there, or the speed of flight."""
        self.view.input.cursor = (x, y)
        controller = self.view.controller
        if controller is not None:
            controller.wheel(steps, controller.direction(*self.view.input.cursor, *self.view.area.size))

    def pinch(self, ratio: float) -> None:
        """Two fingers about the cursor come to ``ratio`` times their distance."""
        controller = self.view.controller
        if controller is not None:
            controller.pinch(ratio, controller.direction(*self.view.input.cursor, *self.view.area.size))

    def leave(self) -> None:
        """The keyboard's focus goes: keys and buttons that are down are let go."""
        self.end()
        self.view.input.motions.clear()
        if self.view.controller is not None:
            self.view.controller.release_all()


def _moves_light(drag: tuple[int, int]) -> bool:
    """Whether a drag, of a button with modifiers, is for the selected light."""
    return drag[0] == RIGHT and bool(drag[1] & CONTROL)
