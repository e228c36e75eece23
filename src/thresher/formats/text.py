"""Raw text with a label.

    spam<TAB>You have won!

- All before the first tab is the label. The first label of a pass decides for all whether they are
  numbers or words; words among numbers are refused. Whole numbers with leading zeros must all have
  the same number of digits: 12 beside 0012 is refused.
- The text is made lower case, and its words of two or more letters, digits or underscores, of any
  script, are the features; a value is how often the word occurs. That is what scikit-learn's
  ``CountVectorizer`` does by default.
- Blank lines are no rows, and a line without tab is refused. Where labels are not required, as in
  prediction, a line without tab is all text, and an empty line is an empty text. In prediction
  labels are not read.

With ``on_error="skip"`` a refused line is left out and counted.
"""

import re

from thresher.formats.named import LineSource, Row
from thresher.formats.protocol import Format

find_words = re.compile(r"\b\w\w+\b").findall


class TextSource(LineSource):
    """Rows of text with a label."""

    no_label = "the row has no label: a line is a label, a tab, and the text"

    def _row(self, text: str) -> Row | None:
        if self.labels.required and not text.strip():
            return None
        label, tab, rest = text.partition("\t")
        words = find_words((rest if tab else text).lower())
        return Row(words, [1.0] * len(words), self.labels.text(label.strip() if tab else ""))


FORMAT = Format(TextSource, options=("hash_bits", "max_line_bytes"))
