"""The page ``docs/claim.md`` and its pictures, from stored cells only."""

from pathlib import Path
from string import Template

from experiments.claim import tables
from experiments.claim.ceiling import lost_by_chance
from experiments.claim.pictures import draw
from experiments.claim.planted import SEEDS as DRAWINGS
from experiments.claim.resplits import SPLITS
from experiments.claim.rivals import FEW_PERMUTATIONS, FTRL, L1, PERMUTATIONS
from experiments.store import Store

TEMPLATE = Path(__file__).parent / "claim.template.md"


def write(store: Store, docs: Path) -> Path:
    """Write the page and its pictures; return the page."""
    drawn = draw(store, docs / "claim")
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        bar=tables.bar_table(store),
        ratios=tables.ratio_table(store),
        lost=tables.lost_table(store),
        weighted=tables.weighted_table(store),
        ceilings=tables.ceiling_table(store),
        chance=f"{lost_by_chance(store, (L1, FTRL)):.0f}",
        resplits=tables.resplit_table(store),
        splits=SPLITS,
        errors=tables.error_tables(store),
        kappa=tables.kappa_table(store),
        halves=tables.halves_table(store, lambda each: each.crossing),
        disjoint=tables.halves_table(store, lambda each: each.disjoint),
        planted=tables.planted_table(store),
        untuned=tables.untuned_table(store),
        stream=tables.stream_table(store),
        units=tables.units_table(store),
        oracle=tables.oracle_table(store),
        unreached=tables.unreached_table(store),
        steps=tables.steps_table(store),
        permutations=PERMUTATIONS,
        few=FEW_PERMUTATIONS,
        drawings=len(DRAWINGS),
        pictures="\n\n".join(f"![{path.stem}](claim/{path.name})" for path in drawn),
    )
    docs.mkdir(parents=True, exist_ok=True)
    page = docs / "claim.md"
    page.write_text(text, encoding="utf-8")
    return page
