"""What input and parameters must be, and the words said when they are not.

`kinds` recognises what was given; `edges`, `features` and `similarities` look at the numbers in it,
`parameters` at options, numbers and callbacks, `memory` at the room that a result would take.
"""

from symclust.validation.edges import refuse_edges, warn_of_edges
from symclust.validation.features import (
    FILL,
    check_features,
    check_nonnegative,
    check_range,
    check_stored,
    float_dtype,
    refuse_masked,
    share_of_zeros,
    tensor_on_host,
)
from symclust.validation.kinds import (
    ENDS,
    GRAPHS,
    MARK,
    OTHER_ENDS,
    end_columns,
    is_a,
    is_similarity,
    kind_of,
    sample_names,
)
from symclust.validation.memory import check_memory
from symclust.validation.parameters import (
    check_callback,
    check_known,
    check_n_clusters,
    check_number,
    is_missing,
    is_true,
)
from symclust.validation.similarities import (
    PAIRS,
    check_scale,
    check_similarity,
    looks_like_similarity,
    refuse_ambiguous,
    refuse_other_names,
)

__all__ = [
    "ENDS",
    "FILL",
    "GRAPHS",
    "MARK",
    "OTHER_ENDS",
    "PAIRS",
    "check_callback",
    "check_features",
    "check_known",
    "check_memory",
    "check_n_clusters",
    "check_nonnegative",
    "check_number",
    "check_range",
    "check_scale",
    "check_similarity",
    "check_stored",
    "end_columns",
    "float_dtype",
    "is_a",
    "is_missing",
    "is_similarity",
    "is_true",
    "kind_of",
    "looks_like_similarity",
    "refuse_ambiguous",
    "refuse_edges",
    "refuse_masked",
    "refuse_other_names",
    "sample_names",
    "share_of_zeros",
    "tensor_on_host",
    "warn_of_edges",
]
