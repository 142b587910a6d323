"""Ways to choose the number of clusters: each is a class with `choose(study)`, found by its name."""
