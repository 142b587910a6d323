"""The form that input and parameters must have, and the messages if they do not.

`kinds` recognises what was given; `edges`, `features` and `similarities` look at the numbers in it,
`parameters` at options, numbers and callbacks, `memory` at the room that a result would take.
"""

from symclust.validation.edges import refuse_edges, warn_of_edges
from symclust.validation.features import (
    FILL,
    are_counts,
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
