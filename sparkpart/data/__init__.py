"""Data tables shipped with sparkpart; each column is described in README.md of this folder."""
