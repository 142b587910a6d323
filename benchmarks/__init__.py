"""Side-by-side measurements: `python -m benchmarks.speed` and `python -m benchmarks.figures`.

Machines are noisy, so everything that is compared is measured in one run, and ratios are what counts.
Data with labels is read from the folder that the environment variable SYMCLUST_DATA names.
"""
