"""Ma & Zheng (arXiv 1604.06498), measured anew: tables, figures, readings of the text, theory."""
