"""Small files, models trained on them, and the command ``thresher`` run in this process."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from click.testing import CliRunner

from thresher.cli import main
from thresher.cli.commands import thresher as program

WORDS = ["grain", "chaff", "wheat", "dust", "corn", "straw", "seed", "husk", "field", "wind"]
EFFECTS = dict(zip(WORDS, [1, -1, 1, -1, 1, -1, 1, -1, 0, 0], strict=True))
CLASSES = {"two": ["drop", "keep"], "three": ["ash", "elm", "oak"], "numbers": None}


def run(line, *words, stdin=None, code=0):
    """Run a command, the line and more words, that must end with a code; return its outputs."""
    result = CliRunner().invoke(program, [*line.split(), *map(str, words)], input=stdin)
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


def forked(*words, stdin=os.devnull, stdout=os.devnull, stderr=None):
    """Run a command in a forked process, where all is imported; return its code and its notes.

    Streams are paths, or "closed" as by a shell's ``>&-``.
    """
    notes = Path("notes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which are at rest
        child = os.fork()
    if not child:
        code = 99
        try:
            for number, place in enumerate([stdin, stdout, stderr or notes]):
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY
                os.close(number)
                if place != "closed":
                    os.dup2(os.open(place, flags), number)
            files = [stdin != "closed" and os.fdopen(0), stdout != "closed" and os.fdopen(1, "w")]
            files.append(stderr != "closed" and os.fdopen(2, "w", buffering=1))
            sys.stdin, sys.stdout, sys.stderr = (file or None for file in files)
            sys.argv = ["thresher", *map(str, words)]
            main()
        except SystemExit as ended:
            code = ended.code or 0
            for file in filter(None, files[1:]):
                file.flush()  # as Python does at its end; what fails here has code 99
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = notes.read_text() if notes.exists() else ""
    notes.unlink(missing_ok=True)
    return code, text


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
