"""The plan for a table: what it takes, what it leaves out, and that it does the same for new rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

import symclust
from symclust import HierarchicalSymNMF, SymNMF
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.inputs.table_plan import TablePlan, plan_for
from symclust.readers import read_described


@pytest.fixture
def birds():
    """Return a table of two species with everything that makes a table hard, and the species."""
    rng = np.random.default_rng(0)
    n, kind = 60, np.repeat([0, 1], 30)
    frame = pd.DataFrame(
        {
            "Sample Number": np.arange(1, n + 1),
            "ring": [f"R-{i:03}" for i in range(n)],
            "seen": [f"2021-05-{1 + i % 28:02}" for i in range(n)],
            "year": 2007 + np.arange(n) % 3,
            "remark": [f"a note of several words on bird {i}" for i in range(n)],
            "wing": 100 + 40 * kind + rng.normal(0, 4, n),
            "mass": np.exp(3 + kind + rng.normal(0, 0.8, n)),
            "beak": 10 + 3 * kind + rng.normal(0, 0.5, n),
            "sex": rng.choice(["f", "m"], n),
            "moults": rng.choice([True, False], n),
            "nest": [None] * 50 + [1.0] * 10,
            "country": "NZ",
        }
    )
    frame.loc[[3, 40], "wing"] = np.nan
    frame.loc[7, "sex"] = None
    order = rng.permutation(n)
    return frame.iloc[order].assign(**{"Sample Number": frame["Sample Number"].to_numpy()}).reset_index(
        drop=True
    ), kind[order]


def test_roles_of_columns(birds):
    plan = TablePlan.of(birds[0])
    assert plan.numbers == ["wing", "mass", "beak"]
    assert [name for name, is_log in zip(plan.numbers, plan.is_log, strict=True) if is_log] == ["mass"]
    assert plan.categories == [("sex", ["f", "m"]), ("moults", ["False", "True"])]
    assert dict(plan.left_out) == {
        "Sample Number": "counts the rows",
        "ring": "names the rows",
        "seen": "dates",
        "year": "year",
        "remark": "names the rows",
        "nest": "83% missing",
        "country": "one value",
    }
    said = str(plan)
    assert all(repr(column) in said for column in birds[0].columns)
    assert "Gaps: 3" in said
    assert len(said.splitlines()) == 5


def test_spreads_of_what_the_plan_makes(birds):
    plan = TablePlan.of(birds[0])
    made = plan.apply(birds[0])
    assert made.notna().all(axis=None)
    assert list(made.columns) == plan.feature_names
    np.testing.assert_allclose(made[["mass", "beak"]].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(made[["mass", "beak"]].std(ddof=0), 1)
    block = made[["moults=False", "moults=True"]]
    np.testing.assert_allclose(np.sqrt(block.var(ddof=0).sum()), 0.35)
    alone = TablePlan.of(birds[0][["sex", "moults", "beak"]].assign(x=list("ab") * 30))
    assert alone.category_weight == 1  # three categories for one number


@pytest.mark.parametrize("estimator", [SymNMF, HierarchicalSymNMF])
def test_models_prepare_tables_and_new_rows_alike(birds, estimator, tmp_path):
    frame, kind = birds
    model = estimator(2, random_state=0).fit(frame)
    assert adjusted_rand_score(kind, model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    rows = frame.iloc[[7, 3, 55]]  # some with gaps, and few of them: filled alike to the last digit
    np.testing.assert_array_equal(model.transform(rows), model.membership_[[7, 3, 55]])
    assert model.n_features_in_ == len(model.feature_names_in_) == len(model.preparation_.feature_names)
    loaded = symclust.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(rows), model.labels_[[7, 3, 55]])
    bare = symclust.load(model.save(tmp_path / "model", data=False))
    assert str(bare.preparation_) == str(model.preparation_)
    assert bare.preparation_.donors.shape[0] == 1  # means, no rows of the table
    with pytest.raises(InputError, match="lacks 'beak'"):
        model.predict(frame.drop(columns="beak"))


def test_the_order_of_rows_and_the_units_of_columns_mean_nothing(birds):
    frame = birds[0]
    changed = frame.assign(wing=frame.wing / 25.4, mass=1000 * frame.mass)
    made, again = (TablePlan.of(table).apply(table) for table in (frame, changed))
    np.testing.assert_allclose(made, again, atol=1e-6)


def test_every_part_can_be_overridden(birds):
    frame = birds[0]
    options = {"drop": ["beak"], "numbers": ["year"], "categories": ["country"], "log": ["mass"]}
    plan = TablePlan.of(frame, **options, category_weight=2, missing="drop_columns")
    assert plan.numbers == ["year", "mass"]
    assert [name for name, _ in plan.categories] == ["moults", "country"]
    assert plan.category_weight == 2
    assert ("beak", "as told") in plan.left_out and ("sex", "has gaps") in plan.left_out
    raw = TablePlan.of(frame, scale=None, log=False, missing="mean").apply(frame)
    np.testing.assert_array_equal(raw["mass"], frame["mass"])
    np.testing.assert_allclose(raw.loc[frame.wing.isna(), "wing"], frame.wing.mean())


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"drop": ["baek"]}, OptionError, "no column 'baek'"),
        ({"drop": ["sex"], "numbers": ["sex"]}, CombinationError, "only"),
        ({"missing": "guess"}, OptionError, "'neighbors'"),
        ({"scale": "max"}, OptionError, "or None"),
        ({"log": ["sex"]}, OptionError, "'sex' is not a column of nonnegative numbers"),
        ({"missing": "error"}, InputError, "3 values are missing, in 'wing', 'sex'"),
        ({"drop": ["wing", "mass", "beak", "sex", "moults"]}, InputError, "'year' .year."),
    ],
)
def test_plans_that_make_no_sense(birds, options, error, said):
    with pytest.raises(error, match=said):
        TablePlan.of(birds[0], **options)


def test_a_table_has_one_plan_whether_it_comes_from_pandas_or_from_a_file(tmp_path):
    wine = load_wine(as_frame=True).data
    wine.to_csv(tmp_path / "wine.csv", index=False)
    given, read = (SymNMF(3, random_state=0).fit(X) for X in (wine, symclust.read(tmp_path / "wine.csv")))
    assert str(given.preparation_) == str(read.preparation_)
    assert "Logarithms: 'malic_acid'" in str(given.preparation_)
    np.testing.assert_array_equal(given.membership_, read.membership_)
    counted = plan_for(wine.assign(no=range(len(wine))))
    assert counted.left_out == [("no", "counts the rows")]


def test_measurements_in_one_unit_and_wide_matrices_stay_the_arrays_that_they_are():
    iris = load_iris(as_frame=True).data
    named, bare = (SymNMF(3, random_state=0).fit(X) for X in (iris, iris.to_numpy()))
    np.testing.assert_array_equal(named.membership_, bare.membership_)
    assert plan_for(pd.DataFrame(np.random.default_rng(0).random((4, 1000)))) is None


def test_texts_among_numbers_are_gaps_and_categories_may_be_new():
    frame = pd.DataFrame(
        {"price": ["$1,200", "$900", "n/a"] + ["$1,000.50"] * 30, "kind": ["a", "b", "a"] * 11}
    )
    plan = TablePlan.of(frame)
    assert plan.numbers == ["price"]
    made = plan.apply(frame.assign(kind="c"))
    assert made.notna().all(axis=None)
    raw = TablePlan.of(frame, scale=None, log=False).apply(frame)
    assert raw.price[:2].tolist() == [1200, 900]


# Reading ----------------------------------------------------------------------------------------------------


def test_a_header_of_years_is_a_header(tmp_path):
    path = tmp_path / "world.csv"
    years = ",".join(map(str, range(1990, 1996)))
    rows = "".join(f"Land {i},L{i},{','.join(str(i * j + 0.5) for j in range(6))}\n" for i in range(9))
    path.write_text(f"Source,World\n\nCountry Name,Country Code,{years}\n{rows}")
    found = read_described(path)
    assert found.names == [f"Land {i}" for i in range(9)]
    assert list(found.data.columns) == ["Country Code", *map(str, range(1990, 1996))]
    assert any("shorter line" in note for note in found.notes)


def test_columns_of_one_name_are_told_apart(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,b,a,a (2)\n1,2,3,4\n5,6,7,9\n")
    found = read_described(path)
    assert list(found.data.columns) == ["a", "b", "a (3)", "a (2)"]
    assert any("'a (3)'" in note for note in found.notes)


def test_names_come_from_the_first_column_if_it_is_unique(tmp_path):
    path = tmp_path / "cars.csv"
    path.write_text("plate,name,power\nA1,vw,50\nB2,vw,60\nC3,kia,70\n")
    assert read_described(path).names == ["A1", "B2", "C3"]
    path.write_text("power,name\n50,vw\n60,vw\n70,kia\n")  # which repeats, and so names nothing
    assert read_described(path).names is None


def test_none_is_a_word_among_words_and_a_gap_among_numbers(tmp_path):
    path = tmp_path / "cars.csv"
    path.write_text("bags,power\nNone,50\nDriver,None\nNone,70\nDriver,80\n")
    frame = symclust.read(path)
    assert frame.bags.tolist() == ["None", "Driver", "None", "Driver"]
    assert frame.power.isna().tolist() == [False, True, False, False]


def test_json_tables(tmp_path):
    path = tmp_path / "people.json"
    frame = pd.DataFrame({"age": [29, None, 51], "town": ["Ulm", "Bonn", "Ulm"]})
    for orient in ("records", "columns", "list"):
        text = (
            frame.to_json(orient=orient)
            if orient != "list"
            else '{"age": [29, null, 51], "town": ["Ulm", "Bonn", "Ulm"]}'
        )
        path.write_text(text)
        pd.testing.assert_frame_equal(symclust.read(path), frame, check_dtype=False)
    path.write_text('{"type": "Topology", "arcs": 3}')
    with pytest.raises(InputError, match="list of rows"):
        symclust.read(path)


def test_workbooks(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"age": [29, 31, 51], "town": ["Ulm", None, "Ulm"]}, index=["ann", "bob", "cem"])
    frame.to_excel(tmp_path / "people.xlsx")
    found = read_described(tmp_path / "people.xlsx")
    assert found.names == ["ann", "bob", "cem"]
    assert found.data.age.tolist() == [29, 31, 51]


def test_options_of_the_plan_go_with_the_table(birds, tmp_path):
    frame, _ = birds
    frame.to_csv(tmp_path / "birds.csv", index=False)
    table = symclust.read(tmp_path / "birds.csv", drop=["sex"], log=False)
    model = SymNMF(2, random_state=0).fit(table)
    assert not model.preparation_.is_log.any()
    assert ("sex", "as told") in model.preparation_.left_out


def test_a_column_that_outweighs_the_others_is_pointed_at():
    X = np.random.default_rng(0).normal(size=(40, 4)) * [1, 1, 1, 1000]
    with pytest.warns(UserWarning, match="Column 3 varies"):
        SymNMF(2, affinity="gaussian", random_state=0, max_iter=1).fit(X)


def test_pixels_of_two_values_are_numbers():
    from sklearn.datasets import load_digits

    pixels = load_digits(as_frame=True).data.astype(int)
    plan = TablePlan.of(pixels)
    assert (plan.scale, plan.categories) == ("auto", [])
    np.testing.assert_array_equal(plan.apply(pixels), pixels[plan.numbers])
