"""A model as one page that anybody can open: reads a description, runs nothing."""

from thresher.report.page import page

__all__ = ["page"]
