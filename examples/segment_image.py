"""Regions of a photograph: how many there are, how they nest, and what a hint changes.

The photograph comes with scikit-learn. Needs the extra "images".
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

from symclust import segment_image
from symclust.plotting import plot_segmentation

photo = load_sample_image("flower.jpg")
answer = segment_image(photo, preset="fast", random_state=0)
print(answer)
for region in sorted(answer.regions(), key=lambda region: -region.size)[:5]:
    print(
        f"region {region.number}: {region.size:,} pixels around {region.middle}, mean colour {region.colour}"
    )

# The same run holds other numbers of regions: the tree is cut elsewhere.
for n in (2, 4, 8):
    sizes = [int((answer.cut(n) == label).sum()) for label in range(n)]
    print(f"{n} regions of {sizes} pixels")

figure, panels = plt.subplots(1, 3, figsize=(13, 3.2), layout="constrained")
panels[0].imshow(photo)
panels[0].axis("off")
plot_segmentation(photo, answer.labels, panels[1])
plot_segmentation(photo, answer.cut(4), panels[2], kind="mean")
for axes, title in zip(panels, ("photograph", f"{len(answer.regions())} regions", "4 regions"), strict=True):
    axes.set_title(title)
