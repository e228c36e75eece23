"""Winnow: exact, penalized fits among the columns left, the weakest leaving until one is left."""
