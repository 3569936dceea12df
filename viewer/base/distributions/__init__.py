"""Other distributions beside this one: those that overwrite its files, and those that add to it."""
