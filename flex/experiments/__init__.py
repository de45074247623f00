"""Experiments: one pure function for each figure or table of the book."""

__all__: list[str] = []
