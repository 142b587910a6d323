"""Subtypes of made-up patients whose marker genes are known."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import false_discovery_control, mannwhitneyu

from symclust import AffineNMF, subtypes
from symclust.applications import Marker
from symclust.applications.expression._markers import find_markers
from symclust.applications.expression._reading import GeneTable, gene_floor, read_expression, select_genes
from symclust.estimators import Placement
from symclust.exceptions import CombinationError, InputError, InputTypeError, MissingExtraError, OptionError
from symclust.metrics import clustering_accuracy

PER_SUBTYPE, PER_KIND, HOUSEKEEPING, NUISANCE = 14, 12, 10, 80
# Fewer genes than there are: raw values of housekeeping genes, as the thesis takes them, would drown markers.
QUICK = {"n_genes": 60, "n_resamples": 0}


def make_patients(n_subtypes=3, seed=0, per_subtype=PER_SUBTYPE):
    """Return patients × genes: markers of each subtype, housekeeping genes, noise and silent genes.

    Housekeeping genes are twenty times as high as markers, everywhere; noisy genes vary, but not with
    subtypes.
    """
    rng = np.random.RandomState(seed)
    kind = np.repeat(np.arange(n_subtypes), per_subtype)
    n = len(kind)
    markers = np.where(np.repeat(np.eye(n_subtypes), PER_KIND, axis=1)[kind] > 0, 400, 40)
    levels = np.hstack(
        [markers, np.full((n, HOUSEKEEPING), 8000), np.full((n, NUISANCE), 60), np.zeros((n, 5))]
    )
    values = rng.poisson(levels * rng.gamma(20, 1 / 20, levels.shape))
    names = [f"M{c}-{i}" for c in range(n_subtypes) for i in range(PER_KIND)]
    names += [f"HK{i}" for i in range(HOUSEKEEPING)] + [f"N{i}" for i in range(NUISANCE)]
    names += [f"silent{i}" for i in range(5)]
    order = rng.permutation(len(names))  # selection and markers must not live on the order of genes
    table = pd.DataFrame(values[:, order], [f"P{i}" for i in range(n)], [names[i] for i in order])
    return table.astype(float), kind


@pytest.fixture(scope="module")
def patients():
    return make_patients()


@pytest.fixture(scope="module")
def answer(patients):
    return subtypes(patients[0], 3, random_state=0, n_genes=60, n_resamples=12)


def read(expression, **options):
    return read_expression(expression, GeneTable(**options))


# Tables of expression --------------------------------------------------------------------------------


def test_tables_are_read_either_way_round(patients):
    table, _ = patients
    one, other = read(table), read(table.T)
    assert (one.rows, other.rows) == ("samples", "genes")
    assert_array_equal(one.values, other.values)
    assert one.samples.tolist() == other.samples.tolist() == list(table.index)
    assert one.genes.tolist() == other.genes.tolist() == list(table.columns)
    assert other.values.flags.c_contiguous


def test_what_was_assumed_is_noted(patients):
    assert read(patients[0], orientation="samples").notes == []
    (note,) = read(patients[0].T).notes
    assert "131 rows were taken for genes" in note
    assert "orientation='samples'" in note


def test_a_nearly_square_table_is_asked_about(patients):
    square = patients[0].iloc[:, :60]
    with pytest.raises(InputError, match=r"42 × 60.*orientation='samples' or orientation='genes'"):
        read(square)
    assert read(square, orientation="genes").samples[0] == square.columns[0]


@pytest.mark.parametrize("names", ["genes", "samples"])
def test_numbers_of_names_say_which_way_round_an_array_is(patients, names):
    table = patients[0].iloc[:, :60]
    given = {"genes": table.columns, "samples": table.index}[names]
    found = read(table.to_numpy().T, **{names: given})
    assert (found.rows, found.notes) == ("genes", [])
    assert getattr(found, names).tolist() == list(given)


def test_names_are_made_where_there_are_none(patients):
    found = read(patients[0].to_numpy())
    assert (found.samples[1], found.genes[2], found.named_genes) == ("sample 1", "gene 2", False)
    unnamed = pd.DataFrame(patients[0].to_numpy())
    assert not read(unnamed).named_genes


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("is_turned", [False, True])
def test_sparse_input_stays_sparse(patients, form, is_turned):
    table, _ = patients
    X = form(table.to_numpy().T if is_turned else table.to_numpy())
    found = read(X, genes=table.columns)
    assert sparse.issparse(found.values)
    assert found.values.format == "csr"
    assert_array_equal(found.values.toarray(), table.to_numpy())


def test_float32_stays_float32(patients):
    assert read(patients[0].astype("float32")).values.dtype == np.float32


@pytest.fixture
def adata(patients):
    anndata = pytest.importorskip("anndata")
    table, _ = patients
    adata = anndata.AnnData(sparse.csr_matrix(table.to_numpy()))
    adata.obs_names, adata.var_names = table.index, [f"ENSG{i}" for i in range(table.shape[1])]
    adata.var["symbol"] = table.columns.to_numpy()
    return adata


def test_rows_of_an_annotated_matrix_are_samples(adata, patients):
    small = adata[:, :50]  # nearly square, and a view
    found = read(small)
    assert (found.rows, found.notes) == ("samples", [])
    assert found.samples.tolist() == list(patients[0].index)
    assert found.genes[3] == "ENSG3"
    assert sparse.issparse(found.values)


def test_an_annotated_matrix_may_lie_on_its_side(adata):
    found = read(adata.T.copy(), orientation="genes", genes="symbol")
    assert found.values.shape == adata.shape
    assert found.genes.tolist() == adata.var["symbol"].tolist()


def test_columns_of_var_can_name_genes(adata):
    assert read(adata, genes="symbol").genes.tolist() == adata.var["symbol"].tolist()
    with pytest.raises(OptionError, match=r"'name' is not a column of adata.var, which has 'symbol'"):
        read(adata, genes="name")


def test_layers_and_raw(adata):
    adata.raw = adata.copy()
    adata.layers["twice"] = 2 * adata.X
    part = adata[:, :100].copy()
    assert_array_equal(read(part, layer="twice").values.toarray(), 2 * part.X.toarray())
    assert read(part, layer="raw").genes.tolist() == adata.var_names.tolist()
    with pytest.raises(OptionError, match="layer='counts' is not in this AnnData, which has 'twice', 'raw'"):
        read(part, layer="counts")


def test_an_annotated_matrix_says_itself_that_it_is_logged(adata):
    adata.uns["log1p"] = {}
    adata.layers["counts"] = adata.X.copy()
    assert read(adata).is_logged
    assert not read(adata, layer="counts").is_logged


def test_a_backed_annotated_matrix_is_read(adata, tmp_path):
    import anndata

    adata.write_h5ad(tmp_path / "patients.h5ad")
    backed = anndata.read_h5ad(tmp_path / "patients.h5ad", backed="r")
    assert_array_equal(read(backed).values.toarray(), adata.X.toarray())
    backed.file.close()


def test_logarithms_are_noticed(patients):
    table, _ = patients
    assert not read(table).is_logged
    for logged in (np.log1p(table), np.log2(table + 1)):
        found = read(logged)
        assert found.is_logged
        assert "look like logarithms" in found.notes[-1]
    with pytest.warns(UserWarning, match="looks like logarithms"):
        subtypes(np.log1p(table), 3, n_resamples=0)


def test_depth_of_sequencing_is_noticed(patients):
    table, _ = patients
    assert not [note for note in read(table).notes if "totals" in note]
    deep = table.mul(np.where(np.arange(42) == 5, 9, 1), axis=0)
    assert "by a factor of up to" in read(deep).notes[-1]
    assert "some are zero" in read(table.mul(np.arange(42) > 0, axis=0)).notes[-1]


@pytest.mark.parametrize(
    "spoil, error, words",
    [
        (lambda t: t - 100, InputError, "Negative values.*numpy.exp2 undoes log2.*clip"),
        (lambda t: t.where(t > 30), InputError, "NaN.*Remove those genes or samples"),
        (lambda t: t.assign(gene="TP53"), InputTypeError, r"Column 'gene'.*'TP53'.*set_index\('gene'\)"),
        (
            lambda t: t.set_axis(["TP53", *t.columns[:-2], "TP53"], axis=1),
            InputError,
            "more than once: 'TP53'",
        ),
        (lambda t: t.T.set_axis(["P", *t.index[:-2], "P"], axis=1), InputError, "names of samples.*'P'"),
        (lambda t: t.set_axis([None, *t.columns[1:]], axis=1), InputError, "1 of 131 genes have no name"),
        (lambda t: t.iloc[:0], InputError, "0 sample"),
        (lambda t: t.iloc[:1], InputError, "There is 1 sample, with 131 genes"),
        (lambda t: t.to_numpy()[0], InputError, "2D array"),
        (lambda t: "patients.csv", InputTypeError, "a path or a text"),
        (lambda t: t * 0 + 5, InputError, "None of the 131 genes varies"),
    ],
)
def test_unusable_data_are_refused_kindly(patients, spoil, error, words):
    with pytest.raises(error, match=f"(?s){words}"):
        subtypes(spoil(patients[0]), 2)


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"n_subtypes": 0}, OptionError, "n_subtypes=0 must be a whole number"),
        ({"n_subtypes": 43}, OptionError, "n_subtypes=43 is not possible with 42 samples"),
        ({"n_subtypes": "many"}, OptionError, "Choose one of 'auto', or give a whole number"),
        ({"orientation": "rows"}, OptionError, "orientation='rows' is not known"),
        ({"n_genes": 0}, OptionError, "n_genes=0"),
        ({"n_resamples": -1}, OptionError, "n_resamples=-1"),
        ({"transform": "log"}, OptionError, "transform='log'.*'sqrt', or None"),
        ({"genes": ["a", "b"]}, InputError, "genes has 2 names, but the expression is 42 × 131"),
        ({"genes": "symbol"}, InputTypeError, "must be a list of names"),
        ({"genes": {"a": 1}, "orientation": "samples"}, InputTypeError, "genes is a dict"),
        ({"samples": ["a"], "orientation": "samples"}, InputError, "samples has 1 names, but there are 42"),
        ({"layer": "raw"}, CombinationError, "belongs to an AnnData"),
        ({"method_params": {"n_nulls": 3}}, CombinationError, "n_subtypes=2. Leave one of them out"),
        ({"model_params": {"n_clusters": 3}}, OptionError, "parameters of AffineNMF"),
        ({"n_subtypes": "auto", "candidates": [30]}, InputError, "42 samples are too few"),
    ],
)
def test_unusable_options_are_refused_kindly(patients, options, error, words):
    with pytest.raises(error, match=words):
        subtypes(patients[0], **{"n_subtypes": 2, **options})


# Genes ------------------------------------------------------------------------------------------------------


def plain_selection(X, n_genes):
    """Return the columns that select_genes should return, gene by gene."""
    median = np.median([x.mean() for x in X.T if x.mean() > 0])
    enough, limit = min(3, len(X)), 1 + 3 * np.sqrt(2 / (len(X) - 1))
    genes = [g for g, x in enumerate(X.T) if x.mean() > 0.01 * median and np.ptp(x) > 0]
    genes = [g for g in genes if np.count_nonzero(X[:, g]) >= enough]
    score = {g: X[:, g].std() / X[:, g].mean() for g in genes}
    more = [g for g in genes if X[:, g].var() > X[:, g].mean() * limit]
    if not np.any(X % 1) and more:
        genes, score = more, {g: np.sqrt(X[:, g].var() - X[:, g].mean()) / X[:, g].mean() for g in more}
    # Genes that score the same but for rounding are taken by their number.
    return sorted(sorted(genes, key=lambda g: (-round(score[g], 12), g))[:n_genes])


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 30), st.integers(1, 12), st.booleans())
@settings(max_examples=100, deadline=None)
def test_genes_are_selected_by_their_coefficient_of_variation(seed, n, d, n_genes, are_counts):
    rng = np.random.RandomState(seed)
    X = rng.gamma(0.5, 10, (n, d)) * (rng.uniform(size=(n, d)) < 0.8) * 10.0 ** rng.randint(-4, 3, d)
    X = np.floor(X) if are_counts else X
    expected = plain_selection(X, n_genes) if X.any() else []
    for form in (np.asarray, sparse.csr_array):
        if expected:
            assert select_genes(form(X), n_genes).tolist() == expected
        else:
            with pytest.raises(InputError, match="None of the"):
                select_genes(form(X), n_genes)


def test_silent_and_constant_genes_are_left_out(patients):
    table, _ = patients
    spoiled = table.assign(one=0.0, few=0.0, faint=np.tile([0.01, 0.03], 21), same=500.1)
    spoiled.iloc[3, spoiled.columns.get_loc("one")] = 1e5  # has the largest σ/μ there is
    spoiled.iloc[[3, 4], spoiled.columns.get_loc("few")] = 1e5
    names = set(spoiled.columns[select_genes(spoiled.to_numpy(), None)])
    assert names == {name for name in table.columns if not name.startswith("silent")}


def test_genes_with_few_counts_do_not_vary_most():
    rng = np.random.RandomState(0)
    levels = np.full((200, 300), 0.2)
    levels[:100, :20] = 8  # 20 genes differ between halves; all others have a larger σ/μ by counting alone
    levels[100:, :20] = 2
    X = rng.poisson(levels).astype(float)
    plain = X.std(axis=0) / X.mean(axis=0)
    assert plain[:20].max() < plain[20:].min()
    for form in (np.asarray, sparse.csr_array):
        left = select_genes(form(X), None).tolist()
        assert left[:20] == list(range(20))
        assert len(left) < 24  # three standard errors, of 280 genes
    noise = rng.poisson(0.2, (200, 50)).astype(float)
    assert len(select_genes(noise[:, :3], None)) == 3  # nothing to choose by: all stay


def test_markers_vary_most(patients):
    chosen = patients[0].columns[select_genes(patients[0].to_numpy(), 36)]
    assert all(name.startswith("M") for name in chosen)


def test_the_floor_has_the_unit_of_the_data():
    means = np.array([0.0, 100.0, 300.0, 200.0])
    assert gene_floor(means) == 2.0
    assert gene_floor(7 * means) == 14.0
    assert gene_floor(np.zeros(3)) == 0.0


# Markers ----------------------------------------------------------------------------------------------------


def plain_markers(X, labels):
    """Return the statistics of find_markers, one gene after the other."""
    known = np.unique(labels[labels >= 0])
    floor = gene_floor(X.mean(axis=0))
    rows = []
    for x in X.T:
        means = {c: x[labels == c].mean() for c in known}
        top = max(known, key=lambda c: (means[c], -c))
        others = [c for c in known if c != top]
        highest = max(means[c] for c in others)
        tests = [mannwhitneyu(x[labels == top], x[labels == c], alternative="greater") for c in others]
        sizes = [np.sum(labels == top) * np.sum(labels == c) for c in others]
        rest = x[(labels >= 0) & (labels != top)]
        rows.append(
            SimpleNamespace(
                top=top,
                change=np.log2((means[top] + floor) / (highest + floor)),
                auc=min(test.statistic / size for test, size in zip(tests, sizes, strict=True)),
                weakest=max(test.pvalue for test in tests),
                p=mannwhitneyu(x[labels == top], rest, alternative="greater").pvalue,
            )
        )
    return rows


@given(st.integers(0, 10**6), st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_markers_are_those_of_single_tests(seed, k):
    rng = np.random.RandomState(seed)
    labels = np.concatenate([np.repeat(np.arange(k), 10), [-1, -1]])
    X = rng.poisson(5, (len(labels), 15)) + 0.5 * (rng.uniform(size=15) < 0.5)
    X = X[:, np.ptp(X, axis=0) > 0].astype(float)
    expected = plain_markers(X, labels)
    for form in (np.asarray, sparse.csr_array):
        found = find_markers(form(X), labels, k)
        assert_array_equal(found.subtype, [row.top for row in expected])
        assert_allclose(found.log2_fold_change, [row.change for row in expected], rtol=1e-9, atol=1e-12)
        assert_allclose(found.auc, [row.auc for row in expected], rtol=1e-12)
        assert_allclose(found.weakest_p_value, [row.weakest for row in expected], rtol=1e-9)
        assert_allclose(found.p_value, [row.p for row in expected], rtol=1e-9)
        for c in np.unique(found.subtype):
            own = found.subtype == c
            p = false_discovery_control(np.where(own, found.p_value, 1))
            assert_allclose(found.q_value[own], p[own], rtol=1e-12)


def test_blocks_of_genes_give_the_same_markers(patients, monkeypatch):
    X, kind = patients[0].to_numpy(), patients[1]
    whole = find_markers(X, kind, 3)
    monkeypatch.setitem(find_markers.__globals__, "BLOCK", 7 * len(X))
    assert_array_equal(find_markers(X, kind, 3).q_value, whole.q_value)


def test_markers_are_the_planted_ones(answer, patients):
    for c in range(3):
        (kind,) = set(patients[1][answer.labels_ == c])
        found = answer.markers(c)
        assert sorted(marker.gene for marker in found) == sorted(f"M{kind}-{i}" for i in range(PER_KIND))
        assert all(marker.subtype == c and marker.auc > 0.99 for marker in found)
        assert [marker.score for marker in found] == sorted((m.score for m in found), reverse=True)


def test_what_is_high_everywhere_is_no_marker(answer):
    assert answer.means[:, answer.genes == "HK0"].min() > 10 * answer.means[:, answer.genes == "M0-0"].max()
    loose = answer.markers(n=None, max_q=1, min_log2_fold_change=0.2)
    assert not {marker.gene for marker in loose if marker.gene.startswith(("HK", "silent"))}


def test_what_two_of_three_subtypes_share_is_no_marker(patients):
    table, kind = patients
    shared = table.assign(shared=np.where(kind == 2, 40.0, 400.0) + np.arange(42) % 7)
    found = find_markers(shared.to_numpy(), kind, 3)
    gene = list(shared.columns).index("shared")
    assert found.q_value[gene] < 0.05  # against all others together it is higher
    everything = [m.gene for c in range(3) for m in found.best(shared.columns, c, None, 0.05, 0)]
    assert "shared" not in everything


def test_an_outlier_makes_no_marker(patients):
    table, kind = patients
    noisy = table.copy()
    noisy.iloc[0, noisy.columns.get_loc("N0")] = 1e6
    found = find_markers(noisy.to_numpy(), kind, 3)
    gene = list(noisy.columns).index("N0")
    assert found.log2_fold_change[gene] > 5
    names = [m.gene for c in range(3) for m in found.best(noisy.columns, c, None, 0.05, 0.5)]
    assert "N0" not in names


def test_noise_has_hardly_any_markers():
    rng = np.random.RandomState(0)
    X = rng.gamma(2, 50, (60, 2000))
    found = find_markers(X, np.arange(60) % 3, 3)
    markers = [m for c in range(3) for m in found.best(np.arange(2000), c, None, 0.05, 0)]
    assert len(markers) <= 2


def test_a_subtype_without_samples_is_compared_with_none(patients):
    X, kind = patients[0].to_numpy(), patients[1]
    one, other = find_markers(X, kind, 4), find_markers(X, kind, 3)
    assert one.means.shape == (4, X.shape[1])
    assert_array_equal(one.q_value, other.q_value)


def test_limits_of_markers(answer):
    some = answer.markers(0, 3)
    assert len(some) == 3
    assert isinstance(some[0], Marker)
    assert some == answer.markers(0)[:3]
    assert len(answer.markers(n=2)) == 6
    assert not answer.markers(min_log2_fold_change=10)
    frame = answer.markers_dataframe()
    assert list(frame.columns) == list(Marker._fields)
    assert len(frame) == 3 * PER_KIND
    for options in ({"subtype": 3}, {"subtype": -1}, {"subtype": True}, {"n": 0}, {"max_q": 2}):
        with pytest.raises(OptionError):
            answer.markers(**options)


# The answer -------------------------------------------------------------------------------------------------


def test_planted_subtypes_are_found(answer, patients):
    table, kind = patients
    is_marker = table.columns.str.startswith("M")
    assert clustering_accuracy(kind, answer.labels_) == 1
    assert answer.n_subtypes == 3
    assert answer.sizes.tolist() == [PER_SUBTYPE] * 3
    assert answer.samples.tolist() == list(table.index)
    assert answer.genes.tolist() == list(table.columns)
    assert len(answer.selected_genes) == 60
    assert {name for name in answer.selected_genes if name.startswith("M")} == set(table.columns[is_marker])
    assert isinstance(answer.model, AffineNMF)
    assert_array_equal(answer.membership_, answer.model.membership_)
    assert answer.selection_ is None
    assert 0 <= answer.average_entropy < 0.5
    assert answer.stability.min() > 0.95


def test_means_are_those_of_the_values_given(answer, patients):
    for c in range(3):
        assert_allclose(answer.means[c], patients[0][answer.labels_ == c].mean(axis=0))


def test_all_forms_of_the_data_give_the_same_answer(answer, patients):
    table, _ = patients
    arrays = {"genes": table.columns, "samples": table.index}
    for data, names in [
        (table.T, {}),
        (table.to_numpy(), arrays),
        (table.to_numpy().T, arrays),
        (sparse.csr_array(table.to_numpy()), arrays),
        (sparse.csc_array(table.to_numpy().T), arrays),
    ]:
        other = subtypes(data, 3, random_state=0, **QUICK, **names)
        assert_array_equal(other.labels_, answer.labels_)
        assert other.markers(0)[0].gene == answer.markers(0)[0].gene
        assert other.samples.tolist() == answer.samples.tolist()


def test_an_annotated_matrix_gives_the_same_answer(adata, answer):
    other = subtypes(adata, 3, genes="symbol", random_state=0, **QUICK)
    assert_array_equal(other.labels_, answer.labels_)
    assert [m.gene for m in other.markers()] == [m.gene for m in answer.markers()]
    assert_array_equal(other.place(adata[5:9], genes="symbol").labels_, answer.labels_[5:9])


def test_a_run_can_be_repeated(patients):
    one, other = (subtypes(patients[0], 3, random_state=5, n_genes=60, n_resamples=5) for _ in range(2))
    assert_array_equal(one.membership_, other.membership_)
    assert_array_equal(one.consensus.values, other.consensus.values)


def test_square_roots_are_factored_and_values_reported(patients):
    table, kind = patients
    found = subtypes(table, 3, transform="sqrt", random_state=0, **QUICK)
    assert clustering_accuracy(kind, found.labels_) == 1
    X = np.sqrt(table[found.selected_genes].to_numpy())
    assert_allclose(found.model.transform(X), found.membership_)
    assert_allclose(found.means[0], table[found.labels_ == 0].mean(axis=0))
    assert_array_equal(found.place(table.iloc[:4]).labels_, found.labels_[:4])


def test_values_themselves_are_factored_as_in_the_thesis(patients):
    table, kind = patients
    found = subtypes(table, 3, transform=None, random_state=0, **QUICK)
    assert clustering_accuracy(kind, found.labels_) == 1
    assert_allclose(found.model.transform(table[found.selected_genes].to_numpy()), found.membership_)


def test_resamples_are_fitted_as_the_model_is(answer, patients):
    """The consensus is that of fits from the model's own start, whatever kernel the choice of k uses."""
    X = np.sqrt(patients[0][answer.selected_genes].to_numpy())
    part = np.setdiff1d(np.arange(len(X)), [0, 20, 40])
    labels = AffineNMF(3, random_state=0).fit_predict(X[part])
    assert clustering_accuracy(patients[1][part], labels) == 1
    assert_array_equal(answer.consensus.values, patients[1][:, None] == patients[1])


def test_parameters_reach_the_model(patients):
    found = subtypes(patients[0], 2, model_params={"init": "random", "n_init": 3}, **QUICK)
    assert len(found.model.inits_) == 3


def test_n_genes_limits_what_is_factored_not_what_is_tested(patients):
    found = subtypes(patients[0], 3, n_genes=20, random_state=0, n_resamples=0)
    assert found.model.components_.shape == (3, 20)
    assert len({marker.gene for marker in found.markers(n=None)}) > 30


def test_genes_that_could_not_be_chosen_from_are_noted(patients):
    (note,) = subtypes(patients[0], 2, orientation="samples", n_resamples=0).notes
    assert note.startswith("All 131 genes but 5 that are silent or vary no more than by chance were used")
    assert subtypes(patients[0], 2, orientation="samples", **QUICK).notes == []


def test_tables_of_samples(answer):
    frame = answer.to_dataframe()
    assert frame.index.tolist() == answer.samples.tolist()
    assert list(frame.columns)[-1] == "stability"
    assert_array_equal(frame["label"], answer.labels_)
    share = answer.membership_ / answer.membership_.sum(axis=1, keepdims=True)
    assert_allclose(frame["confidence"], share.max(axis=1))
    assert_allclose(frame[["cluster_0", "cluster_1", "cluster_2"]], answer.membership_)


def test_tables_need_pandas(answer, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"symclust\[tables\]"):
        answer.to_dataframe()


def test_the_summary_is_readable(answer):
    lines = str(answer).splitlines()
    assert lines[0] == "3 subtypes of 42 samples, by 60 of 131 genes"
    assert lines[1].startswith("  0: 14 samples, stability 1.00, markers M")
    assert lines[4].startswith("average entropy 0.")
    assert "rows were taken for samples" in lines[5]
    assert repr(answer) == f"<Subtypes: {lines[0]}>"


def test_names_that_steer_terminals_are_shown_escaped(patients):
    table, _ = patients
    steering = table.rename(columns={name: f"{name}\x1b[31m" for name in table.columns})
    assert "\x1b" not in str(subtypes(steering, 3, **QUICK))


def test_one_subtype_is_an_answer(patients):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = subtypes(patients[0], 1)
    assert found.n_subtypes == 1
    assert not found.labels_.any()
    assert found.markers() == [] == found.markers(0)
    assert found.consensus is None
    assert found.stability is None
    assert found.average_entropy == 0
    assert len(found.to_dataframe()) == 42
    assert found.means.shape == (1, 131)
    assert not found.place(patients[0].iloc[:3]).labels_.any()
    assert "no marker genes" in str(found)
    with pytest.raises(CombinationError, match="one subtype"):
        found.plot_consensus()


def test_two_samples_are_enough_where_the_number_is_given(patients):
    found = subtypes(patients[0].iloc[[0, 41]], 2, n_resamples=3, random_state=0)
    assert sorted(found.labels_) == [0, 1]
    assert "2 subtypes of 2 samples" in str(found)


# New samples ------------------------------------------------------------------------------------------------


def test_new_samples_find_their_subtype(answer, patients):
    table, kind = make_patients(seed=1, per_subtype=5)
    table = table[patients[0].columns]
    found = answer.place(table)
    of_kind = [answer.labels_[patients[1] == c][0] for c in range(3)]
    assert isinstance(found, Placement)
    assert_array_equal(found.labels_, np.array(of_kind)[kind])
    assert found.to_dataframe().index.tolist() == list(table.index)
    assert_array_equal(found.confidence, found.to_dataframe()["confidence"])


def test_training_samples_keep_their_place(answer, patients):
    assert_allclose(answer.place(patients[0]).membership_, answer.membership_, rtol=1e-8, atol=1e-8)


def test_genes_of_new_samples_are_found_by_name(answer, patients):
    some = patients[0].iloc[[3, 30]]
    expected = answer.membership_[[3, 30]]
    turned = some.iloc[:, ::-1].assign(new=7.0).T  # another order, one gene more, on its side
    assert_allclose(answer.place(turned).membership_, expected, rtol=1e-8, atol=1e-8)
    needed = some[answer.selected_genes[::-1]]
    assert_allclose(answer.place(needed).membership_, expected, rtol=1e-8, atol=1e-8)
    assert_allclose(answer.place(some.to_numpy()).membership_, expected, rtol=1e-8, atol=1e-8)
    arrays = answer.place(needed.to_numpy(), genes=needed.columns, samples=["a", "b"])
    assert_allclose(arrays.membership_, expected, rtol=1e-8, atol=1e-8)
    assert arrays.node_names_ == ["a", "b"]


def test_missing_genes_are_named(answer, patients):
    some = patients[0].iloc[:3].drop(columns=["M0-3", "M1-5"])
    with pytest.raises(InputError, match="2 of the 60 selected genes are not in the new samples") as error:
        answer.place(some)
    assert "'M1-5'" in str(error.value)
    assert "'M0-3'" in str(error.value)
    with pytest.raises(InputError, match="129 genes without names"):
        answer.place(some.to_numpy())


# Pictures ---------------------------------------------------------------------------------------------------


def test_pictures(answer):
    pytest.importorskip("matplotlib").use("Agg")
    ax = answer.plot_consensus()
    assert [text.get_text() for text in ax.get_yticklabels()] == _blocks_from_above(answer)
    with pytest.raises(CombinationError, match="was given"):
        answer.plot_selection()


def _blocks_from_above(answer):
    """Return the subtypes in the order in which the picture shows their samples."""
    in_order = answer.labels_[answer.consensus.order()]
    return [str(c) for c in dict.fromkeys(in_order.tolist())]


# The number -------------------------------------------------------------------------------------------------

FEW = {"n_genes": 60, "candidates": range(2, 6), "random_state": 0}


@pytest.fixture(scope="module")
def chosen(patients):
    told = []
    params = {"n_repeats": 6, "n_nulls": 6}
    found = subtypes(patients[0], method_params=params, n_resamples=4, callback=told.append, **FEW)
    return found, told


def test_the_number_is_chosen(chosen, patients):
    found, _ = chosen
    assert found.n_subtypes == found.selection_.n_clusters == 3
    assert found.selection_.method == "gps"
    assert clustering_accuracy(patients[1], found.labels_) == 1
    assert str(found).splitlines()[1] == str(found.selection_)


def test_the_model_is_that_of_the_number_given(chosen, patients):
    given_number = subtypes(patients[0], 3, random_state=0, **QUICK)
    assert_array_equal(chosen[0].membership_, given_number.membership_)


def test_progress_is_told(chosen):
    stages = [progress.stage for progress in chosen[1]]
    assert len(set(stages)) >= 2
    assert stages[-1] == "consensus"
    assert all(0 <= progress.seconds < 3600 and progress.done <= progress.total for progress in chosen[1])


def test_how_the_number_was_chosen_can_be_drawn(chosen):
    pytest.importorskip("matplotlib").use("Agg")
    assert chosen[0].plot_selection().has_data()


def test_patients_of_one_kind_are_one_subtype():
    table, _ = make_patients(1, per_subtype=40)
    params = {"n_repeats": 6, "n_nulls": 10, "average": "median"}
    found = subtypes(table, method_params=params, candidates=[2, 3, 4], random_state=0)
    assert found.n_subtypes == 1
    assert not found.labels_.any()
    assert found.markers() == []
    assert "no marker genes" in str(found)
    assert str(found.selection_) in str(found)


def test_candidates_that_halves_cannot_have_are_left_out(patients):
    few = patients[0].iloc[::6]
    params = {"n_repeats": 2, "n_nulls": 2}
    found = subtypes(few, n_genes=60, candidates=[2, 3, 4, 5], method_params=params, n_resamples=0)
    assert found.selection_.candidates.tolist() == [2, 3]
    assert "Numbers above half of the samples were not tried: 4, 5." in found.notes


def test_other_methods_choose_too_and_lend_their_consensus(patients):
    found = subtypes(patients[0], method="consensus", method_params={"n_resamples": 8}, n_resamples=0, **FEW)
    assert found.n_subtypes == 3
    assert found.consensus is found.selection_.consensus[3]
    assert found.stability is not None
