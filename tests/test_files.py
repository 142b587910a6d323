"""Files are written completely or not at all, and what killed processes leave behind goes."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from symclust._files import PREFIX, new_folder, remove_abandoned, replacing

WRITER = """
import sys, time
from pathlib import Path
from symclust._files import {name}
with {name}(Path(sys.argv[1]){inside}) as target:
    print("ready", flush=True)
    time.sleep(600)
"""
pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks are POSIX's")


@pytest.fixture(params=["replacing", "new_folder"])
def writer(request, tmp_path):
    """A process that is in the middle of writing."""
    inside = " / 'file'" if request.param == "replacing" else ""
    code = WRITER.format(name=request.param, inside=inside)
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def left_in(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(PREFIX)]


def test_temporaries_of_a_killed_process_go_and_those_of_a_live_one_stay(writer, tmp_path):
    remove_abandoned(tmp_path)
    assert len(left_in(tmp_path)) == 1
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    with replacing(tmp_path / "other") as file:
        file.write(b"1")
    assert not left_in(tmp_path) and (tmp_path / "other").read_bytes() == b"1"


def test_many_threads_write_beside_each_other(tmp_path):
    """Each looks for what was left behind while the others write, and before their files are locked."""
    failures = []

    def write(number):
        try:
            for i in range(40):
                with replacing(tmp_path / f"{number}-{i}") as file:
                    file.write(b"%d" % i)
                with new_folder(tmp_path) as folder:
                    (folder / "a").write_bytes(b"1")
        except Exception as error:  # to be seen in the thread of the test
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and not left_in(tmp_path)
    assert all((tmp_path / f"{n}-{i}").read_bytes() == b"%d" % i for n in range(8) for i in range(40))


def test_links_of_that_name_are_not_followed(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "kept")
    remove_abandoned(tmp_path)
    assert (tmp_path / "kept").is_dir()


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    steps = []
    sync, replace = os.fsync, Path.replace
    monkeypatch.setattr(
        os, "fsync", lambda number: steps.append(os.readlink(f"/proc/self/fd/{number}")) or sync(number)
    )
    monkeypatch.setattr(Path, "replace", lambda *paths: steps.append("renamed") or replace(*paths))
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("needs /proc to see which file is meant")
    with replacing(tmp_path / "a") as file:
        file.write(b"1")
    assert [step if step == "renamed" else Path(step).name[:10] for step in steps] == [
        PREFIX,
        "renamed",
        tmp_path.name[:10],
    ]
