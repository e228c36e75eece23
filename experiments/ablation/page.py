"""The page ``docs/default.md``, from stored cells only."""

from pathlib import Path
from string import Template

from experiments.ablation import measuring, reading
from experiments.ablation.variants import VARIANTS
from experiments.registry import named
from experiments.store import Store
from experiments.tables import NOTHING, markdown, number

TEMPLATE = Path(__file__).parent / "default.template.md"


def ablation_table(store: Store) -> str:
    """Return every variant beside the default."""
    header = ["Variant", "error / default's", "the same, text", "kappa, seeds", "kappa, halves"]
    rows = []
    for name, variant in VARIANTS.items():
        found = reading.summarize(store, name)
        bands = " / ".join(f"{each:g}" for each in found.found) or NOTHING
        ratios = [number(value, 3) for value in (found.ratio, found.text_ratio)]
        kappas = [number(value, 3) for value in (found.kappa, found.halves)]
        error = number(found.planted_error, 1)
        rows.append([variant.title, *ratios, *kappas, bands, error])
    return markdown([*header, "planted, found of 12 each", "planted, error %"], rows)


def error_table(store: Store) -> str:
    """Return every variant's error on every set: geometric means over sizes and re-splits."""
    rows = []
    for name, variant in VARIANTS.items():
        cells = [store.read((dataset, name)) for dataset in reading.REAL]
        rows.append([variant.title, *(number(reading.error(c)) if c else NOTHING for c in cells)])
    return markdown(["Variant", *(named(dataset).title for dataset in reading.REAL)], rows)


def write(store: Store, docs: Path) -> Path:
    """Write the page; return it."""
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        ablation=ablation_table(store),
        errors=error_table(store),
        resplits=measuring.RESPLITS,
        seeds=measuring.SEEDS,
        halves=measuring.HALVES,
        drawings=measuring.DRAWINGS,
        rows=f"{measuring.MOST_ROWS:,}",
    )
    docs.mkdir(parents=True, exist_ok=True)
    page = docs / "default.md"
    page.write_text(text, encoding="utf-8")
    return page
