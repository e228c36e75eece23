"""The bar: ThresherClassifier with one set of defaults against its rivals, at the same sizes.

Run ``python -m experiments.claim --help``. ``sizes`` and ``rivals`` say what is compared;
``sizing`` makes models of a wanted size; ``steps``, ``matching``, ``resplits``, ``planted``,
``untuned``, ``units`` and ``oracle`` measure; ``standing``, ``resplit_standing``, ``rows``,
``bar``, ``tables``, ``pictures`` and ``page`` read what was measured.
"""
