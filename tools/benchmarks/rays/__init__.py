"""Structures and rays: builds, rates, memory, meshes that deform."""
