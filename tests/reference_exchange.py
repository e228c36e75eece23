"""Dense twin of what is between selection and refit: Newton's method, and one row at a time.

See reference.py for why it exists.
"""

import math

import numpy as np

NUMBERS = ("squared_error", "huber")


def bend(loss, margin, target):
    """Return the loss, its slope and its curvature; classes have the log loss."""
    if loss not in NUMBERS:
        doubt = 1 / (1 + math.exp(margin * target))
        return -math.log1p(-doubt), -target * doubt, doubt * (1 - doubt)
    error = margin - target
    if loss == "squared_error" or abs(error) <= 1:
        return error**2 / 2, error, 1.0
    return abs(error) - 0.5, math.copysign(1.0, error), 0.0


def bends(loss, X, y, weights):
    return np.array([bend(loss, m, t) for m, t in zip(X @ weights, y, strict=True)]).T


def settled(X, y, loss, importance, penalties):
    """Return the weights of least cost, and that cost."""

    def cost(weights):
        return importance @ bends(loss, X, y, weights)[0] + penalties @ weights**2 / 2

    weights = np.zeros(X.shape[1])
    for _ in range(200):
        _, slopes, curvatures = bends(loss, X, y, weights)
        slope = X.T @ (importance * slopes) + penalties * weights
        hessian = (X.T * (importance * curvatures)) @ X + np.diag(penalties + 1e-9)
        step, share = np.linalg.solve(hessian, slope), 1.0
        while cost(weights - share * step) > cost(weights) and share > 1e-12:
            share /= 2
        weights = weights - share * step
        if np.abs(share * step).max() < 1e-12:
            break
    return weights, cost(weights)


def importance_of(X, weights):
    count = np.ones(len(X)) if weights is None else weights
    return count / np.mean(count[count > 0])


def with_constant(X, columns, fit_intercept):
    return np.column_stack([X[:, columns], np.full(len(X), float(fit_intercept))])


def norm_of(X, importance):
    return np.average(np.sum(X**2, axis=1), weights=importance)


def noise_of(slopes, curvatures, importance, n_weights):
    """Return the spread of errors, less what as many weights have taken away."""
    free = importance @ curvatures - n_weights
    return importance @ slopes**2 / free if free > 0 else math.inf


def best_of_numbers(X, y, *, loss, fit_intercept, stable, weights=None):
    """Return the weights of the stable features and the intercept, shorter where there is noise."""
    importance, table = importance_of(X, weights), with_constant(X, stable, fit_intercept)
    norm, ridge = norm_of(X[:, stable], importance), 0.1
    for _ in range(2):
        penalties = np.append(np.full(table.shape[1] - 1, ridge * norm), 0.0)
        found, _ = settled(table, y, loss, importance, penalties)
        _, slopes, curvatures = bends(loss, table, y, found)
        noise = noise_of(slopes, curvatures, importance, found.size)
        ridge = 2.0 * np.clip(noise, 1e-9, 1.0)
    coef = np.zeros(X.shape[1])
    coef[stable] = found[:-1]
    return coef, found[-1]


def exchange(X, y, *, loss, fit_intercept, stable, weights=None):
    """Return the stable set after as many swaps as the rows insist on."""
    occurring = np.flatnonzero((X != 0).any(axis=0))
    importance = importance_of(X, weights)
    ridge = 0.1 * np.mean(np.sum(X**2, axis=1))
    if loss in NUMBERS:
        ridge = 0.1 * norm_of(X[:, stable], importance)
    chosen = list(np.flatnonzero(stable))
    if not 0 < len(chosen) < occurring.size:
        return stable
    ridges, chance = np.full(X.shape[1], ridge), 2 * math.log(occurring.size)
    chosen, _ = swaps(X, y, loss, fit_intercept, importance, chosen, ridges, chance, 20)
    return np.isin(np.arange(X.shape[1]), chosen)


def weighed(X, y, *, fit_intercept, stable, weights=None):
    """Return the set of which no swap lowers the cost, what each column says, and weights."""
    ridges = np.sum(X**2, axis=0) / np.maximum(np.sum(X != 0, axis=0), 1)
    importance, chosen = importance_of(X, weights), list(np.flatnonzero(stable))
    terms = 0.2, 20 + 2 * len(chosen)
    known = X, y, "log_loss", fit_intercept, importance
    chosen, said = swaps(*known, chosen, ridges, *terms)
    table = with_constant(X, chosen, fit_intercept)
    penalties = np.append(ridges[chosen], 0.0)
    found, _ = settled(table, y, "log_loss", importance, penalties)
    return chosen, said, found


def swaps(X, y, loss, fit_intercept, importance, chosen, ridges, enough, most):
    """Return who is chosen after some swaps, and what everybody says then."""
    occurring = np.flatnonzero((X != 0).any(axis=0))

    def fitted(columns):
        table = with_constant(X, columns, fit_intercept)
        penalties = np.append(ridges[columns], 0.0)
        return table, *settled(table, y, loss, importance, penalties)

    def bent(curvatures, j):
        level = (curvatures @ X[:, j]) ** 2 / np.sum(curvatures) if fit_intercept else 0.0
        return curvatures @ X[:, j] ** 2 - level + ridges[j]

    def told(columns, table, weights):
        _, slopes, curvatures = bends(loss, table, y, weights) * importance
        said = {
            j: (slopes @ X[:, j]) ** 2 / bent(curvatures, j) for j in occurring if j not in columns
        }
        inside = {j: weights[k] ** 2 * bent(curvatures, j) for k, j in enumerate(columns)}
        return said, inside

    table, found, cost = fitted(chosen)
    for _ in range(most):
        _, slopes, curvatures = bends(loss, table, y, found)
        unit = noise_of(slopes, curvatures, importance, found.size) if loss in NUMBERS else 1.0
        said, _ = told(chosen, table, found)
        comes = max(said, key=said.get)
        if said[comes] <= enough * unit:
            break
        more = [*chosen, comes]
        both, weights, _ = fitted(more)
        _, missed = told(more, both, weights)
        goes = min(missed, key=missed.get)
        after = [j for j in more if j != goes]
        there = fitted(after)
        if goes == comes or 2 * (cost - there[2]) <= enough * unit:
            break
        chosen, (table, found, cost) = sorted(after), fitted(sorted(after))
    said, inside = told(chosen, table, found)
    return chosen, said | inside


def likeliest(X, y, start, importance, fit_intercept, many_rows=2000):
    """Return the likeliest weights, the intercept last; None if rows do not insist on them."""
    table = with_constant(X, slice(None), fit_intercept)
    begun = importance @ bends("log_loss", table, y, start)[0]
    weights, _, known = _evident(X, y, start, importance, fit_intercept)
    fallen = begun - importance @ bends("log_loss", table, y, weights)[0]
    return weights if 2 * fallen > known * max(many_rows / len(X), 1) ** 2 else None


def cautious(X, y, start):
    """Return the weights of noisy rows, the intercept last: under three times the penalty."""
    _, penalty, _ = _evident(X, y, start, np.ones(len(X)), True)
    penalties = np.append(np.full(X.shape[1], 3 * penalty), 0.0)
    table = with_constant(X, slice(None), True)
    return settled(table, y, "log_loss", np.ones(len(X)), penalties)[0]


def _evident(X, y, start, importance, fit_intercept):
    """Return weights and the penalty under which rows are likeliest, and how many are known."""
    table, weights, n = with_constant(X, slice(None), fit_intercept), start, X.shape[1]
    for _ in range(20):
        bent = importance * bends("log_loss", table, y, weights)[2]
        alike = (X.T @ bent) ** 2 / bent.sum() if fit_intercept else 0.0
        curvatures, squares, known = (X**2).T @ bent - alike, np.sum(weights[:-1] ** 2), n
        for _ in range(100):
            known = np.sum(curvatures / (curvatures + known / squares))
        penalty = known / squares
        penalties = np.append(np.full(n, penalty), 0.0)
        weights, _ = settled(table, y, "log_loss", importance, penalties)
    return weights, penalty, known
