"""The report: ``docs/reproduction.md`` and its figures, from stored results only."""

from collections.abc import Sequence
from pathlib import Path
from string import Template

from experiments import figures, tables
from experiments.agreement import agreement_table, claims_table, unit_rows_win
from experiments.methods import LOSS_TITLES, LOSSES
from experiments.plan import MATCHED_LOSS, MATCHED_SCALING, SCALINGS, methods_on
from experiments.registry import named
from experiments.scope import Scope
from experiments.store import Store

TEMPLATE = Path(__file__).parent / "reproduction.template.md"
COMMAND = "thresher reproduce"
MEASURES = {2: "error", 3: "percent", 4: "kappa"}

CAPTIONS = {
    "figure-1": "Figure 1: nonzero weights over the last 1,000 updates on Dexter",
    "figure-2": "Figure 2: the annealing function",
    "figure-3": "Figure 3: share of features selected at each level of density",
    "regret": "Regret against a good sparse vector in hindsight",
}


def table(number: int, store: Store, sets: Sequence[str]) -> str:
    """Return one of the paper's tables: the same text in the report and on the screen."""
    if number == 1:
        return tables.table_1(store, sets)
    return _by_scaling_and_loss(store, sets, MEASURES[number])


def _by_scaling_and_loss(store: Store, sets: Sequence[str], measure: str) -> str:
    parts = []
    for scaling in SCALINGS:
        for loss in LOSSES:
            shown = [name for name in sets if methods_on(name, scaling)]
            if shown:
                parts.append(f"**{LOSS_TITLES[loss]}, {scaling}**")
                parts.append(tables.comparison(store, shown, scaling, loss, measure))
    return "\n\n".join(parts)


def draw_all(store: Store, sets: Sequence[str], folder: Path) -> list[tuple[str, Path]]:
    """Draw every figure that can be drawn; return captions and files."""
    drawn = [(caption, figures.draw(store, name, folder)) for name, caption in CAPTIONS.items()]
    for name in sets:
        path = figures.draw_matched(store, name, MATCHED_SCALING, MATCHED_LOSS, folder)
        drawn.append((f"Matched sparsity: {named(name).title}", path))
    return [(caption, path) for caption, path in drawn if path is not None]


def write(store: Store, scope: Scope, sets: Sequence[str], docs: Path) -> Path:
    """Write the page and its figures; return the page."""
    folder = docs / "reproduction"
    drawn = draw_all(store, sets, folder)
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        command=COMMAND,
        sets=", ".join(named(name).title for name in sets),
        permutations=_permutations(scope),
        oracle=scope.oracle_permutations,
        matched=scope.matched_permutations,
        **{f"table_{number}": table(number, store, sets) for number in (1, 2, 3, 4)},
        oracle_table=tables.oracle_table(store, sets, SCALINGS),
        agreement=agreement_table(store, sets),
        claims=claims_table(store, sets),
        unit_rows=unit_rows_win(store, sets),
        matched_tables=_matched(store, sets),
        figures="\n\n".join(f"![{words}](reproduction/{path.name})" for words, path in drawn),
        settings=_settings(store, sets),
        seconds=_by_scaling_and_loss(store, sets, "seconds"),
    )
    docs.mkdir(parents=True, exist_ok=True)
    page = docs / "reproduction.md"
    page.write_text(text, encoding="utf-8")
    return page


def _permutations(scope: Scope) -> str:
    own, others = scope.permutations["paper"], scope.permutations["extension"]
    return f"{own} of each of the paper's sets, {others} of the others"


def _matched(store: Store, sets: Sequence[str]) -> str:
    parts = []
    for name in sets:
        for measure, title in (("error", "test error, %"), ("kappa", "Cohen's kappa")):
            where = (name, MATCHED_SCALING, MATCHED_LOSS)
            parts.append(f"**{named(name).title}: {title}**")
            parts.append(tables.matched_table(store, *where, measure))
    return "\n\n".join(parts)


def _settings(store: Store, sets: Sequence[str]) -> str:
    parts = [(f"**{each}**", tables.settings_table(store, sets, each)) for each in SCALINGS]
    return "\n\n".join(text for part in parts for text in part)
