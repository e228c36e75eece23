"""The paper's tables and figures, regenerated from data: sets, methods, judge, tables, figures.

Run ``python -m experiments --help``. The package ``thresher`` never imports this one.
"""
