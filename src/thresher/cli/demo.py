"""``thresher demo``: a first look, at rows whose informative words are known."""
