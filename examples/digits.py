"""Handwritten digits: cluster, measure, and write a page about the clusters."""

from pathlib import Path
from tempfile import gettempdir

from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from symclust import SymNMF
from symclust.metrics import clustering_accuracy
from symclust.plotting import plot_similarity
from symclust.report import write_report

digits = load_digits()
model = SymNMF(10, random_state=0).fit(digits.data)
print(model.stop_reason_)
print(f"accuracy {clustering_accuracy(digits.target, model.labels_):.3f}")
print(f"NMI      {normalized_mutual_info_score(digits.target, model.labels_):.3f}")

axes = plot_similarity(model)
page = write_report(
    Path(gettempdir()) / "digits.html",
    model,
    title="Handwritten digits",
    labels_true=digits.target,
    images=-digits.images,
)
print(f"see {page}")
