"""What each part of the default gives: variants on re-splits of training rows.

Run ``python -m experiments.ablation --help``.
"""
