"""Small files, models trained on them, and the command ``thresher`` run in this process."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
from click.testing import CliRunner

from cases import make
from thresher.cli import main

WORDS = ["grain", "chaff", "wheat", "dust", "corn", "straw", "seed", "husk", "field", "wind"]
GOOD = {"grain", "wheat", "corn", "seed"}  # speak for "keep"
BAD = {"chaff", "dust", "straw", "husk"}


def run(*words, stdin=None):
    """Run a command; the result has exit_code, stdout and stderr."""
    return CliRunner().invoke(main, [str(word) for word in words], input=stdin)


def interrupted_training(words, ready):
    """Press Ctrl-C on ``thresher train`` once it is ready; return exit code and what it said."""
    command = [sys.executable, "-m", "thresher", "train", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            ready(process)
            os.kill(process.pid, signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, said


def draw_objects(n=40, seed=0, labels=("drop", "keep"), words=WORDS):
    """Return objects of words with a label, most of the words telling it."""
    rng = np.random.default_rng(seed)
    objects = []
    for _ in range(n):
        chosen = [words[k] for k in rng.choice(len(words), 4, replace=False)]
        score = sum((word in GOOD) - (word in BAD) for word in chosen) + 0.5 * rng.normal()
        place = int(score > 0) if len(labels) == 2 else int(np.digitize(score, [-0.7, 0.7]))
        objects.append({**dict.fromkeys(chosen, 1), "label": labels[place]})
    return objects


def write_jsonl(path, objects):
    """Write objects line by line, and return the path."""
    lines = [json.dumps(one, ensure_ascii=False) for one in objects]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def train_jsonl(folder, name="FTRLClassifier", labels=("drop", "keep"), words=WORDS, **changes):
    """Return the path of a model trained on words, and the path of its rows."""
    rows = write_jsonl(folder / "train.jsonl", draw_objects(labels=labels, words=words))
    model = make(name, **changes).fit_stream(rows)
    model.save(folder / "model.thresher")
    return folder / "model.thresher", rows


def write_svmlight(path, rows, labels=None, base=1):
    """Write sparse rows as svmlight text, with labels or without, and return the path."""
    lines = []
    for number in range(rows.shape[0]):
        here = slice(rows.indptr[number], rows.indptr[number + 1])
        pairs = zip(rows.indices[here].tolist(), rows.data[here].tolist(), strict=True)
        words = [] if labels is None else [str(labels[number])]
        lines.append(" ".join([*words, *(f"{column + base}:{value!r}" for column, value in pairs)]))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path
