"""Camera controller, keys and dragging: arithmetic alone."""
