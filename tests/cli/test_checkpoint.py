"""--checkpoint: work that a killed run has left is taken up by the same command."""

import pytest

import symclust
from symclust.cli._progress import Bar

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def table(people):
    """The path of a table."""
    return people[0]


@pytest.fixture
def fails(monkeypatch):
    """Let the command fail when it reports its progress for the so-manieth time."""

    def at(number):
        calls = iter(range(1, 10**6))

        def to(*_):
            if next(calls) == number:
                raise RuntimeError("a power cut")

        monkeypatch.setattr(Bar, "to", to)

    return at


COMMANDS = {
    "cluster": ("cluster", "-k", "3", "--tol", "1e-9", "--max-iter", "12", "-q"),
    "auto": ("cluster", "-q"),
    "tree": ("cluster", "-k", "5", "--method", "tree", "-q"),
    "select-k": ("select-k", "-c", "2-3", "-m", "auto", "-q"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_same_command_goes_on(name, command, table, tmp_path, fails):
    (what, *options), checkpoint = COMMANDS[name], tmp_path / "checkpoint"
    given = (what, table, *options, "--output")
    assert command(*given, tmp_path / "expected.csv")[0] == 0
    fails(3)
    assert command(*given, tmp_path / "found.csv", "--checkpoint", checkpoint)[0] == 1
    assert checkpoint.exists() and not (tmp_path / "found.csv").exists()
    fails(0)
    for _ in range(2):  # the second time all is known
        assert command(*given, tmp_path / "found.csv", "--checkpoint", checkpoint)[0] == 0
        assert (tmp_path / "found.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()


def test_what_is_not_this_work_is_refused(command, table, tmp_path):
    checkpoint = tmp_path / "checkpoint"
    assert command("cluster", table, "-k", 3, "--checkpoint", checkpoint)[0] == 0
    status, _, errors = command("cluster", table, "-k", 3, "--checkpoint", checkpoint)
    assert status == 0 and f"Goes on from {checkpoint}." in errors.replace("\n", "")
    before = checkpoint.read_bytes()
    status, _, errors = command("cluster", table, "-k", 4, "--checkpoint", checkpoint)
    assert status == 1 and "is a checkpoint of other work: SymNMF(" in errors
    other = tmp_path / "other.csv"
    other.write_text("a,b\n" + "\n".join(f"{i % 7},{i % 5}" for i in range(60)))
    status, _, errors = command("cluster", other, "-k", 3, "--checkpoint", checkpoint)
    assert status == 1 and "is a checkpoint of other data" in errors
    assert checkpoint.read_bytes() == before
    status, _, errors = command("cluster", table, "-k", 3, "--checkpoint", table)
    assert status == 1 and "is not a checkpoint that can be resumed" in errors
    given = ("cluster", table, "-k", 3, "--method", "kernel-k-means", "--checkpoint", tmp_path / "new")
    status, _, errors = command(*given)
    assert status == 1 and "KernelKMeans keeps none" in errors


def test_python_goes_on_with_the_work_of_a_command(command, table, tmp_path):
    checkpoint = tmp_path / "checkpoint"
    command("cluster", table, "-k", 3, "--checkpoint", checkpoint, "--model", tmp_path / "model")
    found = symclust.resume(checkpoint, symclust.read(table))
    assert (found.labels_ == symclust.load(tmp_path / "model").labels_).all()
