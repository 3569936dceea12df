"""Forms, furniture and rooms: building blocks of built-in scenes."""
