"""Factors and topic trees of a documents × terms matrix: ours and what people would use instead.

Flat methods return W (documents × k) and C (terms × k), X ≈ WCᵀ; trees return labels. Each call is the one of
the library's first example, with the squared error where there is a choice.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.speed._peers import peer

SKLEARN = {"requires": ("scikit-learn",), "imports": ("sklearn.decomposition",)}


@peer("NMF", imports=("symclust",))
def ours(X: sp.csr_array, k: int) -> dict[str, Any]:
    from symclust import NMF

    model = NMF(k, random_state=0).fit(X)
    history = {"seconds": model.history_.seconds, "objective": model.history_.objective}
    return {"W": model.membership_, "C": model.components_.T, **history}


def _sklearn(X: sp.csr_array, k: int, **options: Any) -> dict[str, Any]:
    from sklearn.decomposition import NMF

    model = NMF(k, random_state=0, **options)
    return {"W": model.fit_transform(sp.csr_matrix(X)), "C": model.components_.T}


@peer("scikit-learn NMF, cd", **SKLEARN)
def sklearn_cd(X: sp.csr_array, k: int) -> dict[str, Any]:
    return _sklearn(X, k)


@peer("scikit-learn NMF, mu", **SKLEARN)
def sklearn_mu(X: sp.csr_array, k: int) -> dict[str, Any]:
    return _sklearn(X, k, solver="mu", init="nndsvda")


@peer("scikit-learn MiniBatchNMF", **SKLEARN)
def sklearn_batches(X: sp.csr_array, k: int) -> dict[str, Any]:
    from sklearn.decomposition import MiniBatchNMF

    model = MiniBatchNMF(k, random_state=0)
    return {"W": model.fit_transform(sp.csr_matrix(X)), "C": model.components_.T}


@peer(
    "nimfa Nmf",
    requires=("numpy<2", "scipy", "nimfa==1.4.0"),
    own=True,
    imports=("nimfa",),
)
def nimfa_nmf(X: sp.csr_array, k: int) -> dict[str, Any]:
    """Multiplicative updates on a dense copy: on a sparse matrix an iteration takes many times longer."""
    import nimfa

    np.random.seed(0)
    fit = nimfa.Nmf(X.toarray(), rank=k, seed="random_vcol")().fit
    return {"W": np.asarray(fit.basis()), "C": np.asarray(fit.coef()).T}


@peer(
    "gensim Nmf, 5 passes",
    requires=("gensim==4.4.0",),
    own=True,
    imports=("gensim.models.nmf", "gensim.matutils"),
)
def gensim_nmf(X: sp.csr_array, k: int, passes: int = 5) -> dict[str, Any]:
    """Online; the memberships of the documents are asked for afterwards, as its users do."""
    from gensim.matutils import Sparse2Corpus, corpus2dense
    from gensim.models.nmf import Nmf

    corpus = Sparse2Corpus(sp.csr_matrix(X), documents_columns=False)
    model = Nmf(
        corpus,
        num_topics=k,
        id2word={term: str(term) for term in range(X.shape[1])},
        passes=passes,
        normalize=False,
        minimum_probability=0.0,
        random_state=0,
    )
    return {"W": corpus2dense(model[corpus], k, X.shape[0]).T, "C": model.get_topics(normalize=False).T}


@peer(
    "torchnmf NMF",
    requires=("torch==2.13.0", "numpy", "scipy", "torchnmf==0.3.5"),
    own=True,
    imports=("torchnmf.nmf",),
)
def torch_nmf(X: sp.csr_array, k: int) -> dict[str, Any]:
    import torch
    from torchnmf.nmf import NMF

    torch.manual_seed(0)
    entries = X.tocoo()
    at = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
    V = torch.sparse_coo_tensor(at, torch.from_numpy(X.data.astype(np.float32)), X.shape).coalesce()
    model = NMF(X.shape, rank=k)
    model.fit(V, beta=2)
    return {"W": model.H.detach().numpy(), "C": model.W.detach().numpy()}


@peer("pyplanc nmf, anlsbpp", requires=("pyplanc==0.0.2",), own=True, imports=("pyplanc",))
def pyplanc_nmf(X: sp.csr_array, k: int, iterations: int = 30) -> dict[str, Any]:
    import pyplanc

    found = pyplanc.nmf(sp.csc_matrix(X), k, niter=iterations, algo="anlsbpp", ncores=os.cpu_count())
    return {"W": np.asarray(found.W), "C": np.asarray(found.H)}


@peer("hnmf HierarchicalNMF", requires=("hnmf==0.2.2",), own=True, imports=("hnmf",))
def hnmf_tree(X: sp.csr_array, k: int) -> dict[str, Any]:
    """Its leaves are sets of columns, so that documents are the columns here; those in no leaf get -1."""
    from hnmf import HierarchicalNMF

    model = HierarchicalNMF(k, random_state=0).fit(sp.csr_matrix(X.T))
    labels = np.full(X.shape[0], -1)
    for leaf, node in enumerate(np.flatnonzero(model.is_leaf_ == 1)):
        labels[np.asarray(model.clusters_[node]).astype(bool)] = leaf
    return {"labels": labels}
