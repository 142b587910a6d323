"""A matrix whose row blocks lie with the workers of a Dask cluster: the one place for dask."""
