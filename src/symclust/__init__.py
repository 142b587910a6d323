"""Clustering of anything with pairwise similarities, by symmetric matrix factorization."""
