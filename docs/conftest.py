"""Pages whose examples need a library that is not installed are left out."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["gpu.md"]
