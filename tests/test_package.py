"""The package as others meet it: types, public names, what is in it besides code."""

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import thresher

ROOT = Path(thresher.__file__).parent.parent
USER = """
import numpy as np
import thresher
from thresher import FTRLClassifier, ThresherClassifier, load, open_rows

def train(X: np.ndarray, y: np.ndarray) -> ThresherClassifier:
    return ThresherClassifier(caution=2.0).fit(X, y)

X, y = np.eye(3), np.ones(3)
reveal_type(train(X, y).predict(X))
reveal_type(train(X, y).path_.sizes)
reveal_type(FTRLClassifier().fit(X, y))
reveal_type(open_rows("rows.svm").n_rows)
train(X, y).save("model.thresher")
thresher.load("model.thresher").report("model.html")
"""
REVEALED = ["ndarray", "ndarray", "online.FTRLClassifier", "int | None"]


def test_a_script_of_a_user_finds_types(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "script.py").write_text(USER)
    words = ["-m", "mypy", "--strict", "--follow-imports=silent", "--no-color-output", "script.py"]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    revealed = [line for line in done.stdout.splitlines() if "Revealed type" in line]
    assert len(revealed) == len(REVEALED)
    assert all(kind in line for kind, line in zip(REVEALED, revealed, strict=True)), revealed


@pytest.mark.parametrize("name", ["py.typed", "report/page.html"])
def test_the_package_has_files_that_are_no_code(name):
    assert files("thresher").joinpath(name).is_file()


def test_every_public_name_is_there_and_listed():
    assert sorted(thresher.__all__) == thresher.__all__
    assert all(getattr(thresher, name).__doc__ for name in thresher.__all__)
    assert set(thresher.__all__) <= set(dir(thresher))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        thresher.Nothing  # noqa: B018
