"""Time and memory beside other libraries, as ratios measured in one run."""
