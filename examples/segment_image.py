"""Regions of a photograph: how many there are, how they nest, and what a hint changes.

The photograph comes with scikit-learn. Needs the extra "images".
"""

from sklearn.datasets import load_sample_image

from symclust import segment_image

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
