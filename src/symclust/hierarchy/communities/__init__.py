"""Trees of communities: the graph of a leaf, its cuts, and growth on several scales."""
