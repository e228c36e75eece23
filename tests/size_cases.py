"""What the tests of sizes share: a quick search, and what a model says of it."""

from thresher import ThresherClassifierCV

FEW = {"max_iter": 20, "n_paths": 2, "n_stages": 6, "random_state": 3}


def cross_validated(binary):
    """Return a model whose size was found by cross-validation."""
    return ThresherClassifierCV(cv=3, sizes=[2, 4, 0.2, 20], **FEW).fit(*binary)


def told(model):
    """Return what a model says of its size, in values that can be compared."""
    choice = model.size_choice_
    path = None if choice.path is None else {k: v.tobytes() for k, v in choice.path.items()}
    return choice.size, choice.why, path
