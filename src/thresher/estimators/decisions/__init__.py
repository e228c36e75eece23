"""What the flagship decides for itself, one file for each decision, and what they ask for it.

A decision has no state of its own: what was decided is the estimator's, which lists its decisions
in the order in which they are taken.
"""
