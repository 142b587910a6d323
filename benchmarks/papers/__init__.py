"""Tables and figures of the papers, one file an experiment."""
