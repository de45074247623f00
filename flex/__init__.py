"""Flex task scheduling (Le and Liu, arXiv 2006.01354): the package of the first paper."""

__all__: list[str] = []
