"""Scenes in a notebook: a widget with mouse control and a converging picture."""
