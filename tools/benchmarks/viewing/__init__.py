"""The window: first pictures, answers, flight, rest."""
