"""Trees of topics: the documents of a node, ways to split them, scores of splits, and growth."""
