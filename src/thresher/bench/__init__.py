"""Times and memory, as ratios to peers measured in the same run."""
