"""Checkpoints that nobody vouches for are refused in one sentence, or lead to an answer."""

import hashlib
import io
import json
import random
import zipfile

import numpy as np
import pytest

import symclust
from symclust import Checkpoint, resume
from symclust.datasets import planted_partition
from symclust.exceptions import InputError, SymclustError

pytestmark = pytest.mark.filterwarnings("ignore")

A = planted_partition(120, 3, degree=8, mixing=0.2, random_state=0)[0]


def fail_after(number):
    calls = iter(range(10**6))

    def callback(*_):
        if next(calls) == number:
            raise KeyError("the end")

    return callback


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The bytes of three checkpoints: of a descent, and of trees of both kinds."""
    folder, options = tmp_path_factory.mktemp("checkpoints"), {"affinity": "precomputed", "random_state": 0}
    made = []
    for model in (
        symclust.SymNMF(3, n_init=2, tol=1e-9, max_iter=9, **options),
        symclust.HierarchicalSymNMF(6, **options),
        symclust.HierarchicalNMF(6, random_state=0),
    ):
        with pytest.raises(KeyError):
            model.set_params(callback=Checkpoint(folder / "c", 0, fail_after(3))).fit(A)
        made.append((folder / "c").read_bytes())
    return made


def resumed(content, tmp_path):
    (tmp_path / "some.checkpoint").write_bytes(content)
    return resume(tmp_path / "some.checkpoint", A)


def refused(content, tmp_path, words):
    with pytest.raises(InputError, match=words) as caught:
        resumed(content, tmp_path)
    assert "\n" not in str(caught.value) and "some.checkpoint" in str(caught.value)


def unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(files.pop("header.json")), json.loads(files.pop("model.json")), files


def packed(header, model, files):
    files = {"model.json": json.dumps(model).encode(), **files}
    header = {**header, "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in {**files, "header.json": json.dumps(header).encode()}.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_files_that_are_no_checkpoints(kept, tmp_path):
    model = symclust.SymNMF(3, affinity="precomputed", random_state=0).fit(A)
    refused(model.save(tmp_path / "model").read_bytes(), tmp_path, r"it is a model: symclust\.load reads it")
    refused(b"id,x\n1,2\n", tmp_path, "not a zip file")
    refused(kept[0][:-100], tmp_path, "not a checkpoint that can be resumed")
    with pytest.raises(InputError, match="missing cannot be read: No such file"):
        resume(tmp_path / "missing", A)
    (tmp_path / "c").write_bytes(kept[0])
    with pytest.raises(InputError, match=r"it is a checkpoint: symclust\.resume\(path, X\) goes on with it"):
        symclust.load(tmp_path / "c")


def test_other_versions(kept, tmp_path):
    header, model, files = unpacked(kept[0])
    for changed in ({"symclust": "0.0.1"}, {"checkpoint": 99}):
        refused(packed({**header, **changed}, model, files), tmp_path, "within one version alone")


def test_work_that_is_no_fit(kept, tmp_path):
    header, model, files = unpacked(kept[0])
    for name in ("hierarchy.Tree", "nnls.block_pivoting", "builtins.eval", "estimators.SymNMF"):
        other = {**model, "task": [name, {"dict": [["nothing", 1]]}, model["task"][2]]}
        refused(packed(header, other, files), tmp_path, "some.checkpoint")


def test_bytes_that_have_changed(kept, tmp_path):
    for content in kept:
        for place in range(0, len(content), len(content) // 40):
            changed = bytearray(content)
            changed[place] ^= 1 << place % 8
            try:
                resumed(bytes(changed), tmp_path)  # bytes that nobody reads, such as dates
            except InputError as error:
                assert "some.checkpoint" in str(error)


def places(value, found):
    """All lists and dicts in a piece of JSON, with their keys."""
    keys = range(len(value)) if isinstance(value, list) else list(value) if isinstance(value, dict) else ()
    for key in keys:
        found.append((value, key))
        places(value[key], found)
    return found


OTHER = [None, -1, 10**9, 1.5, "x", [], {}, {"tuple": []}, {"object": 0}, {"array": [0, 0, [2], "C"]}]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_answers_that_do_not_fit_the_work(which, kept, tmp_path):
    """With the right checksums: other values somewhere in the answers and states."""
    chance = random.Random(which)
    for _ in range(40):
        header, model, files = unpacked(kept[which])
        known = {key: model[key] for key in ("answers", "states", "objects")}
        holder, key = chance.choice(places(known, []))
        holder[key] = chance.choice(OTHER)
        try:
            resumed(packed(header, {**model, **known}, files), tmp_path)
        except SymclustError as error:
            assert "\n" not in str(error)


def test_numbers_that_have_changed(kept, tmp_path):
    """With the right checksums: other numbers, such as labels out of range, end in a refusal or an answer."""
    for content in kept:
        header, model, files = unpacked(content)
        for name, data in files.items():
            other = bytearray(data)
            other[128:] = np.random.RandomState(0).bytes(len(data) - 128)
            try:
                resumed(packed(header, model, {**files, name: bytes(other)}), tmp_path)
            except SymclustError as error:
                assert "\n" not in str(error)
