"""Forms, furniture and rooms that built-in scenes are put together from."""
