"""The papers' simulators: what their machines would count, move and wait for, by this project's own programs."""
