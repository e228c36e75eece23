"""Raw text with a label."""

import re

from thresher.data.sources.named import LineSource, Row

find_words = re.compile(r"\b\w\w+\b").findall


class TextSource(LineSource):
    """Rows like ``spam<TAB>You have won!``: all before the first tab is the label.

    The text is made lower case, and its words of two or more letters, digits or underscores, of
    any script, are the features; a value is how often the word stands there. That is how
    scikit-learn's ``CountVectorizer`` does it by default. Where rows may come without labels, a
    line without tab is all text, and an empty line is an empty text.
    """

    no_label = "the row has no label: a line is a label, a tab, and the text"

    def _row(self, text: str) -> Row | None:
        if self.labels.required and not text.strip():
            return None
        label, tab, rest = text.partition("\t")
        words = find_words((rest if tab else text).lower())
        return Row(words, [1.0] * len(words), self.labels.text(label.strip() if tab else ""))
