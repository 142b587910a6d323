"""Files that nobody vouches for are refused in one sentence, or give the very same model."""

import hashlib
import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symclust
from symclust.exceptions import InputError, SymclustError
from symclust.storage._archive import FORMAT

X = np.kron(np.eye(3), np.ones((5, 2))) + np.random.default_rng(0).uniform(0, 0.1, (15, 6))


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The bytes of a model that holds samples, neighbours, sparse arrays and functions."""
    path = tmp_path_factory.mktemp("models") / "model"
    return symclust.SymNMF(3, affinity="nearest_neighbors", random_state=0).fit(X).save(path).read_bytes()


def unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(files.pop("header.json")), json.loads(files.pop("model.json")), files


def packed(header, model, files, method=zipfile.ZIP_STORED):
    """Return the bytes of a file with the right checksums, whatever is in it."""
    files = {"model.json": model if isinstance(model, bytes) else json.dumps(model).encode(), **files}
    header = {**header, "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in {**files, "header.json": json.dumps(header).encode()}.items():
            archive.writestr(name, data)
    return out.getvalue()


def load(content, tmp_path):
    path = tmp_path / "model.symclust"
    path.write_bytes(content)
    return symclust.load(path)


def refused(content, tmp_path, words):
    with pytest.raises(InputError, match=words) as caught:
        load(content, tmp_path)
    assert "\n" not in str(caught.value) and "model.symclust" in str(caught.value)


GRAPH = nx.planted_partition_graph(3, 8, 0.8, 0.1, seed=1)
W = nx.to_numpy_array(GRAPH)
FEATURES = np.repeat(np.eye(3), 8, axis=0) + np.random.default_rng(0).integers(0, 3, (24, 3)) / 8
NODES = symclust.AttributedNodes(W[:5], FEATURES[:5] + 0.01)
FORMER = {  # new samples for the model in the file of that name
    **dict.fromkeys(("samples", "walks_of_samples"), FEATURES[:5] + 0.01),
    **dict.fromkeys(("given", "edges", "walks", "cut"), W[:5] / 2),
    "attributed": NODES,
}


@pytest.mark.parametrize("name", FORMER)
def test_rules_of_similarities_in_the_first_format_are_translated(name, tmp_path):
    """Their files held functions with arguments; now there is a class for each kind of similarity.

    The answers are those of the version that wrote the files.
    """
    new, folder = FORMER[name], Path(__file__).parent / "data"
    answers = np.load(folder / "format_1_answers.npz")
    loaded = symclust.load(folder / f"format_1_{name}.symclust")
    again = symclust.load(loaded.save(tmp_path / "again"))
    for one in (loaded, again):
        np.testing.assert_array_equal(one.predict(new), answers[f"{name}_predict"])
        H = one.transform(new)
        np.testing.assert_allclose(H, answers[f"{name}_transform"], rtol=1e-6, atol=1e-9)
        assert (one.network_ is None) == (f"{name}_network" not in answers)
        if one.network_ is not None:
            np.testing.assert_allclose(one.network_.toarray(), answers[f"{name}_network"], rtol=1e-12)
    if f"{name}_grown" in answers:
        np.testing.assert_array_equal(again.partial_fit(new).labels_, answers[f"{name}_grown"])


def test_a_network_is_kept_once(tmp_path):
    graph = nx.planted_partition_graph(4, 150, 0.3, 0.02, seed=0)
    model = symclust.SymNMF(4, affinity="random_walk", max_iter=5, random_state=0).fit(graph)
    A, network = model.affinity_matrix_, model.network_
    bytes_of = lambda M: M.data.nbytes + M.indices.nbytes + M.indptr.nbytes  # noqa: E731
    size = model.save(tmp_path / "model").stat().st_size
    assert size < bytes_of(A) + 1.5 * bytes_of(network)


def test_files_of_the_first_format_can_be_read():
    """If not, attributes have other names or meanings: see "Models on disk" in docs/architecture.md."""
    model = symclust.load(Path(__file__).with_name("format_1.symclust"))
    assert repr(model) == "SymNMF(n_clusters=3, random_state=0, tol=0.01)"
    assert model.labels_.tolist() == [0] * 5 + [1] * 5 + [2] * 5 == model.predict(X).tolist()
    assert model.predict(X[::-1] * 1.01).tolist() == model.labels_.tolist()[::-1]
    assert model.optimality().relative_projected_gradient <= model.tol


@pytest.mark.parametrize("name", ["Diana", "HierarchicalLeftStochastic", "SymNMF"])
def test_a_parameter_that_is_newer_than_the_file_has_its_default(name, tmp_path):
    model = getattr(symclust, name)(3, random_state=7).fit(X)
    header, stored, files = unpacked(model.save(tmp_path / "model").read_bytes())
    for ((_, state),) in (entry.items() for entry in stored["objects"]):
        if "labels_" in state:
            del state["random_state"]
    loaded = load(packed(header, stored, files), tmp_path)
    assert loaded.get_params() == {**model.get_params(), "random_state": None}
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_packed_again_it_is_the_same_model(content, tmp_path):
    one, other = load(content, tmp_path), load(packed(*unpacked(content)), tmp_path)
    assert (one.predict(X) == other.predict(X)).all()


@pytest.mark.parametrize("other", [b"", b"PK", b"id,x\n1,2\n", b"\x93NUMPY", b"\x80\x04."])
def test_other_files(other, tmp_path):
    refused(other, tmp_path, "not a zip file")


def test_files_that_are_not_there_or_no_files(tmp_path):
    with pytest.raises(InputError, match=r"missing.symclust cannot be read: No such file"):
        symclust.load(tmp_path / "missing.symclust")
    with pytest.raises(InputError, match="cannot be read"):
        symclust.load(tmp_path)
    with pytest.raises(TypeError, match="expected a str or a Path"):
        symclust.load(None)


def test_other_zip_files(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez(path, a=np.ones(3))
    refused(path.read_bytes(), tmp_path, r"without header\.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": FORMAT + 1, "symclust": "99.0"}, r"written by symclust 99\.0.*upgrade symclust"),
        ({"format": "1"}, "format '1'"),
        ({"format": True}, "format True"),
        ({"format": None}, "format None"),
        ({"model": "estimators.NMF"}, "not what its header says"),
        ({"symclust": "0.0.1"}, None),
    ],
)
def test_formats_and_versions(change, words, content, tmp_path):
    header, model, files = unpacked(content)
    changed = packed({**header, **change}, model, files)
    if words is None:
        assert load(changed, tmp_path).n_clusters == 3  # an older version of the package
    else:
        refused(changed, tmp_path, words)


def test_checksums(content, tmp_path):
    header, _, files = unpacked(content)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in {**files, "model.json": b"{}", "header.json": json.dumps(header)}.items():
            archive.writestr(name, data)
    refused(out.getvalue(), tmp_path, r"checksum of model\.json is wrong")
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("extra.txt", "more")
    refused(out.getvalue(), tmp_path, "does not list the files in it")


def test_bombs(content, tmp_path):
    header, model, files = unpacked(content)
    zeros = {"arrays/9.npy": bytes(10_000_000)}
    refused(packed(header, model, {**files, **zeros}, zipfile.ZIP_DEFLATED), tmp_path, "packed files")
    # Many entries for the same bytes.
    entry, first = b"PK\x01\x02", content.index(b"PK\x01\x02")
    second = content.index(entry, first + 4)
    refused(content[:first] + content[first:second] * 50 + content[first:], tmp_path, "not a model")


@pytest.mark.parametrize(
    "name", ["os.system", "builtins.eval", "estimators.os", "estimators.as_given", "sklearn.NMF", "list ", ""]
)
def test_classes_that_are_none_of_ours(name, content, tmp_path):
    header, model, files = unpacked(content)
    model["objects"][0] = {name: model["objects"][0]["estimators.SymNMF"]}
    refused(packed(header, model, files), tmp_path, "which models are not made of")


@pytest.mark.parametrize(
    "value",
    [
        {"function": "os.system"},
        {"function": "estimators.SymNMF"},
        {"partial": [{"function": "builtins.eval"}, {"tuple": ["1"]}, {"dict": []}]},
        {"partial": ["eval", {"tuple": []}, {"dict": []}]},
        {"method": [{"object": 0}, "fit"]},
        {"method": [{"tuple": []}, "extend"]},
        {"pickle": "gASVKAAAAAAAAACMCGJ1aWx0aW5z"},
        {"dtype": "O"},
        {"array": [0, 0, [1 << 60], "C"]},
        {"array": [0, -1, [1], "C"]},
        {"array": [0, 0, [-1], "C"]},
        {"array": [99, 0, [1], "C"]},
        {"array": [-1, 0, [1], "C"]},
        {"object": 10**9},
        {"object": -1.5},
        {"float": "1e999"},
        {"bytes": "xy"},
        {"range": [0, 1, 0]},
        {"random_state": ["MT19937", [1], 0, 0, 0.0]},
        {"tuple": []} | {"list": []},
        {},
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_values_that_are_none(value, content, tmp_path):
    header, model, files = unpacked(content)
    model["objects"][0]["estimators.SymNMF"]["affinity_params"] = value
    refused(packed(header, model, files), tmp_path, "is not a model that can be loaded")


def test_attributes_with_a_meaning_for_python(content, tmp_path):
    header, model, files = unpacked(content)
    model["objects"][0]["estimators.SymNMF"]["__class__"] = 3
    refused(packed(header, model, files), tmp_path, "an attribute __class__")


def test_sparse_arrays_that_point_outside(content, tmp_path):
    header, model, files = unpacked(content)
    number = next(i for i, entry in enumerate(model["objects"]) if "sparse" in entry)
    shape = model["objects"][number]["sparse"][1]
    model["objects"][number]["sparse"][1] = [shape[0], 2]
    refused(packed(header, model, files), tmp_path, "damaged")


def nested(depth):
    return b'{"model":' + b"[" * depth + b"]" * depth + b',"objects":[]}'


def test_json_without_end(content, tmp_path):
    header, _, files = unpacked(content)
    refused(packed(header, nested(100_000), files), tmp_path, "RecursionError|damaged")
    endless = {"model": {"object": 0}, "objects": [{"objectives.RowTerms": [{"object": 0}]}]}
    refused(packed(header, endless, files), tmp_path, "which models are not made of")
    endless["objects"] = [{"applications.Marker": [{"object": 0}]}]
    refused(packed(header, endless, files), tmp_path, "damaged")
    refused(packed(header, b"{", files), tmp_path, "damaged")
    refused(packed(header, [], files), tmp_path, "damaged")


def npy(array, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, **options)
    return out.getvalue()


def test_arrays_that_are_none(content, tmp_path):
    header, model, files = unpacked(content)
    name = "arrays/0.npy"
    numbers = np.lib.format.read_array(io.BytesIO(files[name]))
    long = npy(numbers).replace(f"({len(numbers)},)".encode(), b"(1000000000000,)")
    objects = npy(np.array([print, 1], dtype=object), allow_pickle=True)
    others = [npy(numbers[None]), npy(numbers)[:-8], npy(numbers) + b"more", npy(numbers, version=(3, 0))]
    for wrong in [objects, b"", long, *others]:
        refused(packed(header, model, {**files, name: wrong}), tmp_path, "damaged")
    files["arrays/17.npy"] = files.pop(name)
    refused(packed(header, model, files), tmp_path, "damaged")


JUNK = [None, -1, 10**6, "x", [], True, {"tuple": []}, {"dict": []}, {"array": [0, 0, [1], "C"]}]


def tampered(content, rng):
    """Return a file with right checksums in which an attribute is gone, or another, or numbers are."""
    header, model, files = unpacked(content)
    attributes = [
        (holder, name)
        for entry in model["objects"]
        for holder in entry.values()
        if isinstance(holder, dict)
        for name in holder
    ]
    holder, name = attributes[rng.integers(len(attributes))]
    match rng.integers(4):
        case 0:
            del holder[name]
        case 1:
            holder[name] = JUNK[rng.integers(len(JUNK))]
        case 2:
            other, its_name = attributes[rng.integers(len(attributes))]
            holder[name] = other[its_name] if len(holder) == 1 else None
        case _:
            file = sorted(files)[rng.integers(len(files))]
            numbers = np.lib.format.read_array(io.BytesIO(files[file])).copy()
            if numbers.dtype.kind in "if":
                wrong = [-1, 99, 0] if numbers.dtype.kind == "i" else [np.nan, np.inf, -1.0, 1e300]
                numbers[rng.integers(max(numbers.size, 1)) :][:1] = wrong[rng.integers(len(wrong))]
            files[file] = npy(numbers, version=(1, 0))
    return packed(header, model, files)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["SymNMF", "NMF", "KernelKMeans", "HierarchicalNMF", "Diana"])
def test_what_is_loaded_can_be_used(name, tmp_path):
    """A file that was changed is refused when it is loaded, or its model gives answers or errors of ours."""
    whole = getattr(symclust, name)(3).fit(X).save(tmp_path / "whole").read_bytes()
    rng, n_refused = np.random.default_rng(0), 0
    for _ in range(40):
        try:
            model = load(tampered(whole, rng), tmp_path)
        except InputError:
            n_refused += 1
            continue
        with suppress(SymclustError):
            model.predict(X)
            model.communities()
            model.to_dataframe()
            repr(model)
    assert n_refused > 0


def test_parameters_that_older_files_lack_have_their_defaults(content, tmp_path):
    header, model, files = unpacked(content)
    del model["objects"][0]["estimators.SymNMF"]["tol"]
    assert load(packed(header, model, files), tmp_path).tol == symclust.SymNMF().tol


@settings(max_examples=300)
@given(st.data())
def test_random_damage(content, tmp_path_factory, data):
    damaged = bytearray(content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))])
    edges = st.integers(0, 300) | st.integers(-1500, -1)  # the structure of a zip file is at its ends
    for place in data.draw(st.lists(st.integers(0, len(content)) | edges, max_size=4)):
        if -len(damaged) <= place < len(damaged):
            damaged[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.symclust"
    path.write_bytes(damaged)
    try:
        model = symclust.load(path)
    except InputError:
        return
    assert model.predict(X).tobytes() == load(content, path.parent).predict(X).tobytes()


@settings(max_examples=300)
@given(st.data())
def test_random_json_with_right_checksums(content, tmp_path_factory, data):
    """Whatever the JSON says, loading ends with a model or an `InputError`."""
    header, model, files = unpacked(content)
    text = json.dumps(model)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text) - 1))
        text = text[:place] + data.draw(st.sampled_from('0123456789-.[]{},:"atrue')) + text[place + 1 :]
    path = tmp_path_factory.getbasetemp() / "forged.symclust"
    path.write_bytes(packed(header, text.encode(), files))
    with suppress(InputError):
        assert isinstance(symclust.load(path), symclust.SymNMF)
