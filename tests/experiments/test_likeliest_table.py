"""``python -m experiments.likeliest``: a line for each variant, and rows that insist."""

import numpy as np

from experiments import likeliest
from experiments.made_up import topics


def test_the_table_has_both_variants(capsys, monkeypatch):
    monkeypatch.setattr(likeliest, "SPLITS", 1)
    monkeypatch.setattr(likeliest, "SIZES", (10, 300))
    assert likeliest.main(["--data", "marks"]) == 0
    header, _, refit, default = capsys.readouterr().out.splitlines()
    assert header == "| set | weights | 10 features | 300 features | time |"
    assert refit.startswith("| marks | refit | 2")
    assert default.startswith("| marks | the default | 2")
    assert refit.endswith("|  | 1.00 |")  # there are not so many marks


def test_documents_are_about_their_topics():
    rows, labels, _ = topics(share=0.1, own=0.3)
    assert rows.shape == (8000, 20_000)
    assert 0.08 < labels.mean() < 0.12
    means = np.array([rows[labels == topic].mean(axis=0) for topic in (0, 1)])
    apart = np.abs(means[0] - means[1])
    by_chance = np.abs(rows[:4000].mean(axis=0) - rows[4000:].mean(axis=0))
    assert np.sort(apart)[-50:].mean() > 5 * np.sort(by_chance)[-50:].mean()
