"""The demonstration in words and columns."""

from typing import Any

from thresher.demo.data import Documents, Recipe
from thresher.demo.run import Result

NAME_WIDTH = len("StabilizedTruncatedSGD")
LEGEND = """\
test error  share of wrong predictions on rows that neither trained nor chose anything
nonzero     features the model uses
found       planted features among them: in each band (of {each}), and in all (of {all})
false       features among them that say nothing
seconds     to train on all training rows, once the settings are chosen and the code is compiled
chosen      the one setting that was chosen, out of seven values (plain SGD has none)"""
TABLE_LEGEND = """\
weight       on rows of unit length; the sign says for which class the feature speaks
probability  that a refit on a random half of the rows selects the feature
rows         training rows in which the feature occurs"""


def introduction(recipe: Recipe, documents: Documents) -> str:
    """Say what the data is, and how settings are chosen."""
    per_row = documents.X_train.nnz / recipe.n_rows
    bands = "\n".join(
        f"  {band.name:<{_band_width(recipe)}}  {recipe.planted_per_band} features, each in "
        f"{band.rows:>4} training rows"
        for band in recipe.bands
    )
    return (
        f"{recipe.n_rows:,} documents to train on and {recipe.n_rows:,} to test, "
        f"{recipe.n_columns:,} words, {per_row:.0f} in a document.\n"
        f"{recipe.n_planted} planted words decide the class, as strongly when rare as when "
        f"frequent:\n{bands}\n"
        f"The other {recipe.n_columns - recipe.n_planted:,} are probes: they say nothing.\n\n"
        "Penalties and sizes are chosen on a third of the training rows, set aside for that; then\n"
        "all training rows train the model. The test rows are used once, for the error below. The\n"
        "very first run compiles the code, which takes a while."
    )


def heading(recipe: Recipe) -> str:
    """Return the two lines above the results, and a rule."""
    bands = "  ".join(band.name for band in recipe.bands) + "  all"
    first = f"{'':<{NAME_WIDTH}}   test           {'planted features found':<{len(bands)}}"
    second = f"{'':<{NAME_WIDTH}}  error  nonzero  {bands}  false  seconds  chosen"
    return "\n".join([first.rstrip(), second, "-" * (len(second) + 20)])


def line(result: Result, recipe: Recipe) -> str:
    """Return a row of the table of results."""
    name = result.name.removesuffix("Classifier")
    found = [
        f"{count:>{len(band.name)}}" for count, band in zip(result.found, recipe.bands, strict=True)
    ]
    chosen = ", ".join(f"{name}={value:g}" for name, value in result.settings.items())
    return (
        f"{name:<{NAME_WIDTH}}  {result.test_error:>5.1%}  {result.n_nonzero:>7,}  "
        f"{'  '.join(found)}  {sum(result.found):>3}  {result.n_false:>5,}  "
        f"{result.seconds:>7.2f}  {chosen or '-'}"
    )


def legend(recipe: Recipe) -> str:
    """Return a line of explanation for each column of the results."""
    return LEGEND.format(each=recipe.planted_per_band, all=recipe.n_planted)


def selection(table: Any, n_rows: int) -> str:
    """Return the first rows of a selection table."""
    if table is None:
        return "The selection table needs pandas: pip install 'thresher[pandas]'."
    width = max(len(name) for name in table.feature[:n_rows])
    lines = [f"{'feature':<{width}}  weight  probability  rows"]
    lines += [
        f"{row.feature:<{width}}  {row.weight:>+6.1f}  {row.selection_probability:>11.2f}  "
        f"{row.rows:>4}"
        for row in table.head(n_rows).itertuples()
    ]
    return "\n".join([*lines, "", TABLE_LEGEND])


def _band_width(recipe: Recipe) -> int:
    return max(len(band.name) for band in recipe.bands)
