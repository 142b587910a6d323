"""Subtypes of patients from a table of gene expression: how many, how sure, and which genes mark them."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from symclust import subtypes
from symclust.plotting import plot_selection

# 90 patients of three kinds. 2,000 genes: 20 are up in each kind, a few are very high in everybody (these are
# no markers, however large), and all others vary by chance.
rng = np.random.default_rng(0)
kind = rng.permutation(np.repeat([0, 1, 2], 30))
level = rng.lognormal(4, 1, 2000)
profile = np.tile(level, (3, 1))
for k in range(3):
    profile[k, 20 * k : 20 * (k + 1)] *= 6
profile[:, 60:80] = 20_000
values = rng.poisson(profile[kind] * rng.gamma(8, 1 / 8, (90, 2000)))
genes = [f"UP{j // 20}-{j % 20}" if j < 60 else f"HOUSE{j}" if j < 80 else f"G{j}" for j in range(2000)]
table = pd.DataFrame(values.T, index=genes, columns=[f"patient {i}" for i in range(90)])

answer = subtypes(table, n_genes=300, method_params={"n_repeats": 10, "n_nulls": 10}, random_state=0)
print(answer)
print()
print(answer.markers_dataframe(n=3)[["gene", "subtype", "log2_fold_change", "auc", "q_value"]].to_string())
print()
print(answer.to_dataframe().head(4).round(2).to_string())

# New patients are placed by the names of genes, in whatever order these come.
new = pd.DataFrame(rng.poisson(profile), columns=genes).iloc[:, ::-1]
print()
print("new patients, one of each kind:", answer.predict(new).tolist())

# Markers × patients, both in the order of the subtypes: logarithms less the mean of the gene.
markers = [marker.gene for marker in answer.markers(n=8)]
patients = np.argsort(answer.labels_, kind="stable")
levels = np.log2(table.loc[markers].to_numpy()[:, patients] + 1)
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained", width_ratios=(3, 2))
shown = left.imshow(
    levels - levels.mean(axis=1, keepdims=True), aspect="auto", cmap="RdBu_r", vmin=-3, vmax=3
)
left.set(yticks=range(len(markers)), yticklabels=markers, xlabel="patients, by subtype", title="markers")
figure.colorbar(shown, ax=left, label="log2, less the mean of the gene")
plot_selection(answer.selection_, right)

assert answer.n_subtypes == 3
assert all(len(set(kind[answer.labels_ == c])) == 1 for c in range(3))
assert {marker.gene[:2] for marker in answer.markers(n=None)} == {"UP"}
assert len(set(answer.predict(new).tolist())) == 3
