"""Scenes derived from scenes: single parts, moved lights, reduced images, culled sides."""
