"""From X, in any form, to the one that methods take; similarities of samples that come later.

`reading` turns X into a `similarity`, with the kind of X asked once (`validation.kinds`): `table_plan`
prepares tables, `features` compares samples, `networks` reads graphs, `choice` decides for
``affinity="auto"``. `document_clusters` divides documents; `placing` finds the memberships of new samples,
`ignored` reads the pairs without information.
"""

from symclust.inputs.document_clusters import document_clusters
from symclust.inputs.table_plan import TablePlan

__all__ = ["TablePlan"]  # the others are for other folders
