"""A baseline that hides the groups: NMF and AffineNMF on samples that mostly look alike."""

import matplotlib.pyplot as plt
import numpy as np

from symclust import NMF, AffineNMF

# Three kinds of samples differ in 10 of 100 features each. All of them share a profile five times as strong.
rng = np.random.default_rng(0)
kind = rng.integers(0, 3, 90)
profile = rng.uniform(0, 5, 100)
patterns = np.zeros((3, 100))
for l in range(3):
    patterns[l, 10 * l : 10 * (l + 1)] = 1
X = profile + rng.uniform(0.5, 1.5, (90, 1)) * patterns[kind] + rng.uniform(0, 0.2, (90, 100))

plain = NMF(3, random_state=0).fit(X)
affine = AffineNMF(3, random_state=0).fit(X)
for name, model in (("NMF", plain), ("AffineNMF", affine)):
    share = model.membership_.max(axis=1) / model.membership_.sum(axis=1)
    print(f"{name}: largest membership {share.mean():.0%} of all, relative error {model.relative_error_:.2%}")
print(f"the baseline differs from the profile by {np.abs(affine.baseline_ - profile).mean():.2f} on average")
print("features of the largest weights:", [sorted(row.argsort()[-3:].tolist()) for row in affine.components_])

figure, panels = plt.subplots(1, 2, figsize=(11, 3.4), sharey=True, layout="constrained")
for axes, (name, model) in zip(panels, (("NMF", plain), ("AffineNMF", affine)), strict=True):
    axes.plot(model.components_.T)
    axes.set(title=f"components of {name}", xlabel="feature")

groups = [set(kind[affine.labels_ == l]) for l in range(3)]
assert sorted(map(len, groups)) == [1, 1, 1]
assert affine.relative_error_ < plain.relative_error_
