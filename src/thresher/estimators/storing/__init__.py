"""A fitted estimator, or a training on its way, as a file of ours, and back."""
