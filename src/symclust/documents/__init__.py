"""From counts of words to the matrix that documents are clustered by."""

from symclust.documents.document_weights import DocumentWeights

__all__ = ["DocumentWeights"]
