"""Tables 1 to 4 and Figures 1 to 3 of Ma & Zheng (arXiv 1604.06498), measured anew."""
