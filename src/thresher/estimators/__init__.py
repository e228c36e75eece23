"""Models in scikit-learn's manner."""
