"""Figures of the papers, one file an experiment; their tables are those of `symclust reproduce`."""
