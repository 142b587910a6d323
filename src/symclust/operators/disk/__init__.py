"""A sparse matrix in files, read block by block."""
