"""Small files, models trained on them, and the command ``thresher`` run in this process."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
from click.testing import CliRunner

from thresher.cli.commands import thresher as program

WORDS = ["grain", "chaff", "wheat", "dust", "corn", "straw", "seed", "husk", "field", "wind"]
EFFECTS = dict(zip(WORDS, [1, -1, 1, -1, 1, -1, 1, -1, 0, 0], strict=True))
CLASSES = {"two": ["drop", "keep"], "three": ["ash", "elm", "oak"], "numbers": None}


def run(*words, stdin=None, code=0):
    """Run a command that must end with a code; the result has stdout and stderr."""
    result = CliRunner().invoke(program, [str(word) for word in words], input=stdin)
    assert result.exit_code == code, (result.output, result.exception)
    return SimpleNamespace(
        stdout=result.stdout,
        stderr=result.stderr,
        data=result.stdout_bytes,
        words=" ".join(result.stderr.split()),
    )


def start(*words, **streams):
    """Start a command in a process of its own."""
    command = [sys.executable, "-m", "thresher", *map(str, words)]
    return subprocess.Popen(command, **{"stderr": subprocess.PIPE, "text": True, **streams})


def shell(line, **variables):
    """Run a line in a shell, where ``thresher`` is the command; return code and both outputs."""
    line = f'thresher() {{ "{sys.executable}" -m thresher "$@"; }}; {line}'
    done = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )
    return done.returncode, done.stdout, done.stderr


def draw(n=60, seed=0, kind="two"):
    """Return rows of words with a label that depends on them."""
    rng, rows = np.random.default_rng([seed, n]), []
    for _ in range(n):
        words = rng.choice(WORDS, 4, replace=False).tolist()
        score = sum(EFFECTS[word] for word in words) + 0.3 * rng.normal()
        labels = CLASSES[kind]
        places = [-0.5, 0.5] if kind == "three" else [0.0]
        label = round(score, 3) if labels is None else labels[int(np.digitize(score, places))]
        rows.append({**dict.fromkeys(words, 1), "label": label})
    return rows


def write_jsonl(path, rows):
    """Write rows line by line, and return the path."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def write_csv(path, rows):
    """Write rows as a table, and return the path."""
    lines = [["label", *WORDS], *([row["label"], *(row.get(w, 0) for w in WORDS)] for row in rows)]
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    return path


def write_svmlight(path, rows, base=1):
    """Write rows with numbers instead of words, and labels -1 and 1, and return the path."""
    lines = []
    for row in rows:
        columns = sorted(WORDS.index(word) + base for word in row if word != "label")
        pairs = " ".join(f"{column}:1" for column in columns)
        lines.append(f"{1 if row['label'] == 'keep' else -1} {pairs}\n")
    path.write_text("".join(lines))
    return path
