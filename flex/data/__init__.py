"""Data tables of the package."""
