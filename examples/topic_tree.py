"""The subjects of NumPy, SciPy and scikit-learn: a tree of topics from their docstrings."""

import importlib
import inspect
import pkgutil
import warnings

from symclust import topics
from symclust.plotting import plot_tree


def docstrings(package):
    """Return the docstrings of the public functions and classes of a package, by their full names."""
    warnings.simplefilter("ignore")
    root = importlib.import_module(package)
    names = [package, *(f"{package}.{module.name}" for module in pkgutil.iter_modules(root.__path__))]
    found = {}
    for name in names:
        if any(part.startswith("_") or part in ("tests", "conftest") for part in name.split(".")):
            continue
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue  # it needs a library that is not installed
        for attribute, value in vars(module).items():
            documented = (inspect.getdoc(value) or "") if callable(value) else ""
            text = documented.split("\nReferences\n")[0]  # names of authors are no topics
            if len(text) > 200 and not attribute.startswith("_") and attribute != "test":
                found.setdefault(text, f"{name}.{attribute}")  # aliases have one text
    return {name: text for text, name in found.items()}


texts = {}
for package in ("numpy", "scipy", "sklearn"):
    texts |= docstrings(package)

tree = topics(texts, 20, random_state=0)
print(tree)

print("\nTypical of each topic:")
for topic in tree.leaves:
    print(f"[{topic.label}]", ", ".join(example.name for example in topic.examples))

new = ["Eigenvalues and eigenvectors of a symmetric matrix", "Decision tree for regression"]
for label, weights in zip(tree.predict(new), tree.transform(new), strict=True):
    terms = ", ".join(term for term, _ in tree.leaves[label].terms[:4])
    print(f"a new document belongs to [{label}] {terms} (weight {weights[label] / weights.sum():.2f})")

axes = plot_tree(tree, n_terms=3)
