"""A picture under the hand, shared by window, notebook and remote page."""
