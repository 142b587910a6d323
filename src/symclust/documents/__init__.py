"""From counts of words to the matrix that documents are clustered by."""

from symclust.documents.document_weights import DocumentWeights, weighted_rows

__all__ = ["DocumentWeights", "weighted_rows"]
