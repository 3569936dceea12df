"""Scenes made of other scenes: parts alone, lights moved, images reduced, sides culled."""
