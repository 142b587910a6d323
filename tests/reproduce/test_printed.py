"""The printed numbers against sums and cells read a second time, and the verdicts."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symclust.exceptions import OptionError
from symclust.reproduce import VERDICTS, PrintedTable, choose, tables
from symclust.reproduce._printed import Found, Key, judge

# Cells read from the documents by eye, after the tables had been read line by line.
SPOTS = {
    ("symnmf:2", "4th", "eigenvalue"): 0.9999999999998909,
    ("symnmf:4", "ORL", "dimension"): 69 * 84,
    ("symnmf:5", "COIL-20", "SpYS"): 0.7899,
    ("symnmf:5", "TDT2", "SymNMF"): 0.8934,
    ("symnmf:6", "Extended YaleB", "GNMF"): 0.2171,
    ("symnmf:7", "Extended YaleB", "ANLS seconds"): 23.47,
    ("thesis:1", "20 Newsgroups", "documents"): 18221,
    ("thesis:2", "20News", "Sparse NMF/ANLS"): 0.3970,
    ("thesis:3", "NIPS14-16", "NMF/MU"): 0.4601,
    ("thesis:4", "TDT2", "NMF/MU H"): 6.08,
    ("thesis:9", "Reuters-21578", "KM"): 0.4111,
    ("thesis:10", "COIL-20", "SymNMF"): 0.8153,
    ("thesis:11", "ORL", "Newton-like seconds"): 6.52,
    ("thesis:12", "(a) σ = 0.3", "K = 3"): 0.4,
    ("thesis:12", "(d) σ = 0.5", "K = 6"): 0.4,
    ("thesis:13", "(c) σ = 0.35", "K = 1"): 0,
    ("thesis:13", "(d) σ = 0.5", "K = 6"): 0.3,
    ("thesis:14", "Affine NMF", "k = 2"): 0.2918,
    ("thesis:17", "RCV1-full", "nmf-flat"): 16128,
    ("thesis:21", "800K RCV1", "GPU (single)"): 78.2,
    ("constrained:I", "TDT2", "dimension"): 36771,
    ("constrained:II", "Ours", "Reuters-21578 15"): 0.755,
    ("constrained:III", "SymHALS", "COIL-20 10"): 0.703,
    ("offdiagonal:2", "n = 500, r = 10", "ℓ1 iterations"): 623,
    ("offdiagonal:3", "5 clusters unbalanced", "zero OD-ℓ2"): 55,
    ("offdiagonal:5", "Ohscal", "NMI OD-ℓ1"): 82.80,
    ("offdiagonal:6", "tr23", "k-Means"): 45.55,
    ("leftstochastic:2", "InternetAds", "LSD (M-Upd.)"): 58093,
    ("leftstochastic:3", "LSD (M-Upd.)", "Int Ads"): -11.31,
    ("leftstochastic:4", "Kernel k-Means", "AuralSon"): 1.56,
    ("leftstochastic:5", "Comp. Link.", "Voting"): 0.04,
    ("leftstochastic:6", "LSD (Rotation)", "MNIST misclassified"): 0.34,
    ("leftstochastic:7", "Hier. Kernel k-Means", "Yeast"): 1318310,
}


def numbers(key):
    table = tables()[key]
    return {
        row: dict(zip(table.columns, map(float, values), strict=True)) for row, values in table.rows.items()
    }


def test_cells_read_a_second_time():
    for (key, row, column), printed in SPOTS.items():
        assert numbers(key)[row][column] == printed, (key, row, column)
    # The documents print some tables twice.
    assert list(numbers("symnmf:5").values()) == list(numbers("thesis:9").values())
    assert list(numbers("symnmf:4").values()) == list(numbers("thesis:8").values())


@pytest.mark.parametrize("key", ["symnmf:5", "symnmf:6", "thesis:9", "thesis:10"])
def test_printed_means_of_accuracies(key):
    found = numbers(key)
    means = found.pop("ALL")
    for method, mean in means.items():
        assert np.mean([row[method] for row in found.values()]) == pytest.approx(mean, abs=6e-5), method


def test_printed_means_of_table_6():
    found = numbers("offdiagonal:6")
    means = found.pop("Average")
    for method, mean in means.items():
        assert np.mean([row[method] for row in found.values()]) == pytest.approx(mean, abs=0.0051), method
    accuracy = numbers("offdiagonal:5")
    for row, values in found.items():
        for method in ("OD-ℓ1", "OD-ℓ2", "Sym"):
            assert accuracy[row][f"Accuracy {method}"] == values[method]


def test_tables_choose_themselves_by_name():
    assert [table.key for table in choose(["symnmf:5", "symnmf:5"])] == ["symnmf:5"]
    assert len(choose(["all"])) == len(tables())
    assert {table.key.partition(":")[0] for table in choose(["thesis"])} == {"thesis"}
    with pytest.raises(OptionError, match="symnmf:7"):
        choose(["symnmf:77"])


def table(rows, **options):
    columns = tuple("abcdef"[: len(next(iter(rows.values())))])
    read = {row: tuple(map(Decimal, values)) for row, values in rows.items()}
    return PrintedTable("x:1", "", columns, read, **options)


def verdicts(one, ours, runs=1):
    found = {}
    for row, values in ours.items():
        for column, value in zip(one.columns, values, strict=True):
            if value is not None:
                found[Key("x:1", row, column)] = Found(Key("x:1", row, column), value, runs)
    return [cell.verdict for cell in judge(one, found, {})]


@pytest.mark.parametrize(
    ("better", "expected"),
    [
        ("higher", ["reached", "reached", "within spread", "below"]),
        ("lower", ["within spread", "below", "reached", "reached"]),
        ("", ["within spread", "below", "within spread", "below"]),
    ],
)
def test_direction_and_spread(better, expected):
    one = table({"r": ["0.50"] * 4}, better=better, within=Decimal("0.03"))
    assert verdicts(one, {"r": [0.52, 0.6, 0.48, 0.4]}) == expected


def test_rounding_is_half_of_the_last_printed_digit():
    one = table({"r": ["0.50", "0.5"]}, better="higher", within=Decimal(0))
    assert verdicts(one, {"r": [0.494, 0.451]}) == ["below", "reached"]
    assert verdicts(one, {"r": [0.4951, 0.449]}) == ["reached", "below"]


def test_order_of_numbers_that_are_off():
    one = table({"r": ["0.90", "0.50", "0.20"]}, better="higher", within=Decimal("0.03"), order="row")
    assert verdicts(one, {"r": [0.5, 0.3, 0.1]}) == ["order holds"] * 3
    assert verdicts(one, {"r": [0.5, 0.1, 0.15]}) == ["order holds", "below", "below"]


def test_seconds_count_by_their_order_alone():
    one = table({"r": ["10", "100", "101"]}, order="row")
    assert verdicts(one, {"r": [0.1, 0.3, 0.2]}) == ["order holds"] * 3
    assert verdicts(one, {"r": [0.25, 0.3, 0.2]}) == ["below", "order holds", "below"]
    tied = table({"r": ["0", "1"]}, order="row")
    assert verdicts(tied, {"r": [5, 1]}) == ["no order"] * 2
    mixed = table(
        {"r": ["0.9", "10", "100"]},
        better="higher",
        within=Decimal("0.03"),
        order="row",
        order_only=("b", "c"),
    )
    assert verdicts(mixed, {"r": [0.9, 7, 8]}) == ["reached", "order holds", "order holds"]
    assert verdicts(mixed, {"r": [0.9, 8, 7]}) == ["reached", "below", "below"]


def test_order_in_a_column():
    one = table({"r": ["1", "9"], "s": ["5", "1"]}, order="column")
    assert verdicts(one, {"r": [1, 1], "s": [2, 2]}) == ["order holds", "below"] * 2


@given(printed=st.integers(0, 10), ours=st.integers(0, 10), runs=st.integers(1, 40))
def test_spread_of_shares_shrinks_with_runs(printed, ours, runs):
    one = table({"r": [str(printed / 10)]}, better="higher", within="binomial")
    few, many = (verdicts(one, {"r": [ours / 10]}, count)[0] for count in (runs, 100 * runs))
    assert (few == "reached") == (ours >= printed) == (many == "reached")
    if few == "below":
        assert many == "below"


def test_one_failure_of_one_is_no_proof_against_nine_of_ten():
    one = table({"r": ["0.9", "1.0"]}, better="higher", within="binomial")
    assert verdicts(one, {"r": [0.0, 0.0]}, 1) == ["within spread", "below"]
    assert verdicts(one, {"r": [0.3, 0.3]}, 10) == ["below", "below"]


def test_notes_explain():
    notes = {
        "absent": {"s": "elsewhere"}, "missing": {"r, b": "no such method"},
        "differ": {"r": "fewer"}, "why": {"*": "a reason"},
    }  # fmt: skip
    one = table({"r": ["1", "1"], "s": ["1", "1"], "t": ["1", "1"]}, within=Decimal(0), notes=notes)
    key = Key("x:1", "r", "a")
    found = {at: Found(at, 3.0) for at in (key, Key("x:1", "t", "a"))}
    cells = judge(one, found, {Key("x:1", "t", "b"): "t.npz is not in data"})
    assert [(cell.verdict, cell.why) for cell in cells] == [
        ("data differ", "fewer"),
        ("no method", "no such method"),
        ("no data", "elsewhere"),
        ("no data", "elsewhere"),
        ("below", "a reason"),
        ("no data", "t.npz is not in data"),
    ]
    assert cells[0].difference == 2 and cells[1].difference is None


def test_every_verdict_has_a_meaning_and_every_note_a_cell():
    from symclust.reproduce._page import MARKS, MEANINGS
    from symclust.reproduce._printed import fits

    assert set(MARKS) == set(MEANINGS) == set(VERDICTS)
    keys = [key for one in tables().values() for key, _ in one.printed()]
    places = {
        (one.key.partition(":")[0], place)
        for one in tables().values()
        for some in one.notes.values()
        for place in some
    }
    for document, place in places:
        assert any(fits(place, key) for key in keys if key.table.startswith(document)), (document, place)
