"""The slow twin of every learner: dense vectors, one row at a time, nothing lazy.

The package's kernels postpone shrinkage, skip zeros and share work between paths, so a mistake in
them can hide. Each function here writes its formula down once, in the order in which it is defined,
and costs what it costs. Tests run both and compare.

`X` is a dense array, `y` holds -1 and +1, or numbers where the loss is a regression's, and `order`
the row numbers in the order they are read. `etas` and `biases` are aligned with `order`: the step
and the intercept's input of each update. `weights` holds one importance per row of `X`. The staged
learners are in reference_stabilized.py.
"""

import math

import numpy as np


def soft_threshold(w, g):
    """T(w, g): move w towards 0 by g, and stop there."""
    return np.sign(w) * np.maximum(np.abs(w) - g, 0.0)


def slope(loss, margin, y):
    """Derivative of the loss with respect to the margin."""
    if loss in ("squared_error", "huber"):
        return margin - y if loss == "squared_error" else float(np.clip(margin - y, -1.0, 1.0))
    agreement = y * margin
    if loss == "hinge":
        return -y if agreement < 1 else 0.0
    if loss == "log_loss":
        # -y / (1 + exp(agreement)), with exp taken only where it cannot overflow
        small = math.exp(-abs(agreement))
        return -y * (small if agreement > 0 else 1.0) / (1.0 + small)
    if loss == "squared_hinge":
        return -2.0 * y * max(0.0, 1.0 - agreement)
    if loss == "modified_huber":
        if agreement >= 1:
            return 0.0
        return -2.0 * y * (1.0 - agreement) if agreement >= -1 else -4.0 * y
    raise ValueError(loss)


def quantile(values, share):
    """The k-th smallest value, k = ceil(share * N); 0 if there is no such value."""
    k = math.ceil(share * len(values))
    return sorted(values)[k - 1] if k > 0 else 0.0


def anneal(d, rejection_rate, annealing_rate):
    """phi(d): the rejection rate when the share d of all features is stable."""
    gamma = annealing_rate
    if gamma >= 0:
        return rejection_rate * (math.exp(-gamma * (1 - d)) - (1 - d) * math.exp(-gamma))
    return rejection_rate * math.log(1 - gamma * d) / math.log(1 - gamma)


def pace(X, order, eta0, rate, learning_rate, fit_intercept, mean_square=None):
    """Step and intercept input of every update.

    Both follow the running mean of the rows' squared norms, or `mean_square` where that is given
    (paths with orders of their own know the mean of the whole training set).
    """
    etas, biases, total = [], [], 0.0
    for t, i in enumerate(order, start=1):
        total += float(np.sum(X[i] ** 2))
        mean = total / t if mean_square is None else mean_square
        if eta0 == "auto":
            base = rate / mean if mean > 0 else rate
        else:
            base = eta0
        etas.append({"constant": base, "invsqrt": base / math.sqrt(t)}[learning_rate])
        biases.append(math.sqrt(mean) if fit_intercept else 0.0)
    return np.array(etas), np.array(biases)


def within_targets(X, order, etas, biases, weights=None):
    """The same steps, none longer than one that brings the row's margin to its target."""
    pulls = [importance(weights, i) * (X[i] @ X[i] + biases[t] ** 2) for t, i in enumerate(order)]
    return np.minimum(etas, 1.0 / np.array(pulls))


def importance(weights, i):
    return 1.0 if weights is None else weights[i]


def intercept(biases, order, v):
    return biases[len(order) - 1] * v if len(order) else 0.0


def sgd(X, y, order, *, loss, etas, biases, weights=None):
    w, v = np.zeros(X.shape[1]), 0.0
    for t, i in enumerate(order):
        g = importance(weights, i) * slope(loss, X[i] @ w + biases[t] * v, y[i])
        w = w - etas[t] * g * X[i]
        v = v - etas[t] * g * biases[t]
    return w, intercept(biases, order, v)


def truncated_gradient(
    X, y, order, *, loss, etas, biases, gravity, burst_size, ceiling=math.inf, weights=None
):
    w, v = np.zeros(X.shape[1]), 0.0
    for t, i in enumerate(order):
        g = importance(weights, i) * slope(loss, X[i] @ w + biases[t] * v, y[i])
        w = w - etas[t] * g * X[i]
        v = v - etas[t] * g * biases[t]
        if (t + 1) % burst_size == 0:
            w = np.where(np.abs(w) <= ceiling, soft_threshold(w, gravity * burst_size), w)
    return w, intercept(biases, order, v)


def fobos(X, y, order, *, loss, etas, biases, l1, weights=None):
    w, v = np.zeros(X.shape[1]), 0.0
    for t, i in enumerate(order):
        g = importance(weights, i) * slope(loss, X[i] @ w + biases[t] * v, y[i])
        w = soft_threshold(w - etas[t] * g * X[i], etas[t] * l1)
        v = v - etas[t] * g * biases[t]
    return w, intercept(biases, order, v)


def rda_weights(mean_slope, t, *, gamma, l1, rho):
    threshold = l1 + gamma * rho / math.sqrt(t)
    w = -(math.sqrt(t) / gamma) * (mean_slope - threshold * np.sign(mean_slope))
    return np.where(np.abs(mean_slope) <= threshold, 0.0, w)


def rda(X, y, order, *, loss, gammas, biases, l1, rho, weights=None):
    """`gammas[t]` belongs to the weights as they are after update number t + 1."""
    w, v = np.zeros(X.shape[1]), 0.0
    total, total_v = np.zeros(X.shape[1]), 0.0
    for t, i in enumerate(order):
        g = importance(weights, i) * slope(loss, X[i] @ w + biases[t] * v, y[i])
        total = total + g * X[i]
        total_v = total_v + g * biases[t]
        done = t + 1
        w = rda_weights(total / done, done, gamma=gammas[t], l1=l1, rho=rho)
        # A full step would let the intercept swing and drown the shrunken weights.
        v = -0.01 * (math.sqrt(done) / gammas[t]) * (total_v / done)
    return w, intercept(biases, order, v)


def ftrl_weight(z, n, *, alpha, beta, l1, l2):
    if abs(z) <= l1:
        return 0.0
    return -(z - np.sign(z) * l1) / ((beta + math.sqrt(n)) / alpha + l2)


def ftrl(X, y, order, *, loss, biases, alpha, beta, l1, l2, weights=None):
    """The intercept is one more column, the last, of value biases[t] and without penalties."""
    p = X.shape[1]
    z, n = np.zeros(p + 1), np.zeros(p + 1)
    penalties = [(l1, l2)] * p + [(0.0, 0.0)]

    def weights_now():
        return np.array(
            [
                ftrl_weight(z[j], n[j], alpha=alpha, beta=beta, l1=penalty1, l2=penalty2)
                for j, (penalty1, penalty2) in enumerate(penalties)
            ]
        )

    for t, i in enumerate(order):
        x = np.append(X[i], biases[t])
        w = weights_now()
        g = importance(weights, i) * slope(loss, x @ w, y[i]) * x
        sigma = (np.sqrt(n + g**2) - np.sqrt(n)) / alpha
        z = z + g - sigma * w
        n = n + g**2
    w = weights_now()
    return w[:p], intercept(biases, order, w[p])
