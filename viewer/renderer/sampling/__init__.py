"""Samples of a picture, rays of any kind, and the picture with its metadata."""
