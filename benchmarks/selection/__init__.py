"""How many clusters each method of choosing finds: on labelled data, and where there are none."""
