"""Data whose informative features are known: who finds how many of which band."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from experiments.claim.judging import missed, support
from experiments.claim.rivals import OURS, Rival
from experiments.claim.sizing import LOSS
from experiments.claim.steps import choose_step
from experiments.datasets import Split
from experiments.fitting import fit
from experiments.methods import method
from experiments.store import Store
from thresher.demo.data import FAINT, PROBE, Documents, make_documents

SEEDS = range(5)
WANTED = FAINT.n_planted


def plant(_: str, rival: Rival, __: Store) -> dict[str, Any]:
    """Ask a method for as many features as are planted, on several drawings of the data."""
    drawings = [_draw(seed) for seed in SEEDS]
    params = choose_step(drawings[0][1], rival, [WANTED])["params"]
    points = []
    for documents, data in drawings:
        sizer = rival.sizer(params)
        setting = sizer.settings(data.X_train, data.y_train, [WANTED])[WANTED]
        points.append(_point(sizer.model(setting, data.X_train, data.y_train, 0), documents, data))
    return {
        "params": params,
        "points": points,
        "auto": _auto(drawings) if rival.name == OURS else [],
    }


def _auto(drawings: list[tuple[Documents, Split]]) -> list[dict[str, Any]]:
    """Let our learner choose the number by itself."""
    return [
        _point(fit(method(OURS), LOSS, {}, data.X_train, data.y_train, 0)[0], documents, data)
        for documents, data in drawings
    ]


def _draw(seed: int) -> tuple[Documents, Split]:
    documents = make_documents(replace(FAINT, seed=seed))
    X_train, X_test = (csr_matrix(X) for X in (documents.X_train, documents.X_test))
    return documents, Split(X_train, documents.y_train, X_test, documents.y_test)


def _point(model: Any, documents: Documents, data: Split) -> dict[str, Any]:
    bands = documents.band_of[support(model, data)]
    return {
        "size": len(bands),
        "found": [int(np.sum(bands == band)) for band in range(len(FAINT.bands))],
        "false": int(np.sum(bands == PROBE)),
        "error": 100 * float(missed(model, data).mean()),
    }
