"""AnnData files."""

from __future__ import annotations

from typing import Any

from symclust._optional import need
from symclust.exceptions import InputError
from symclust.readers._pairs import Described
from symclust.readers._source import Source, naming_damage
from symclust.validation import sample_names

ITEM = 1000  # bytes of memory for anything that a file holds, beside its numbers


def read_h5ad(source: Source, kind: str = "expression") -> Described:
    """Read an ``.h5ad`` file; what it links to in other files is not followed."""
    purpose = f"Reading {source.name}"
    anndata, h5py = need("anndata", "expression", purpose), need("h5py", "expression", purpose)
    if not source.is_plain:
        raise InputError(
            f"{source.name} has to be a file that is not compressed as a whole: unpack it first."
        )
    with naming_damage(f"{source.name} is not an AnnData file, or is damaged"):
        with h5py.File(source.path, "r") as file:
            _check_size(h5py, source, file)
        adata = anndata.read_h5ad(source.path)
    notes = [f"{adata.n_obs:,} samples and {adata.n_vars:,} variables."]
    return Described(adata, "expression", sample_names(adata), notes)


def _check_size(h5py: Any, source: Source, group: Any, total: int = 0) -> int:
    """`total` and the bytes of all that a group holds; arrays in other files are refused.

    Groups may hold each other, or one another many times: the budget ends that, too.
    """
    for key in group:
        link = group.get(key, getlink=True)
        is_elsewhere = isinstance(link, h5py.ExternalLink)
        item = None if is_elsewhere or isinstance(link, h5py.SoftLink) else group[key]
        if is_elsewhere or (isinstance(item, h5py.Dataset) and (item.external or item.is_virtual)):
            raise InputError(f"{source.name} refers to another file at {key!r}, which is not followed.")
        total += ITEM
        if isinstance(item, h5py.Group):
            total = _check_size(h5py, source, item, total)
        elif isinstance(item, h5py.Dataset):
            total += int(item.size or 0) * item.dtype.itemsize
        source.afford(total, f"The content of {source.name}", "Take a part of it.")
    return total
