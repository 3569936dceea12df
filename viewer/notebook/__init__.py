"""Scenes in a notebook: a widget that follows the mouse while its picture converges."""
