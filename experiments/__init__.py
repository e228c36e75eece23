"""Measurements of the library beside its rivals, and of the paper's tables and figures."""
