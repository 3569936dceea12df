"""The papers reproduced: sections that render, count and simulate, and the report that they are laid out in."""
