"""The window: fly through a scene, toggle everything by hotkey, watch the stream processor at work."""
