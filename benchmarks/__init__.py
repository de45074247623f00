"""Timings of both packages against other implementations: ``python -m benchmarks``."""
