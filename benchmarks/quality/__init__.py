"""How good clusters are beside those of other methods, on labelled data: one file per kind of data."""
