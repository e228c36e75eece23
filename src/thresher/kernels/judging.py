"""What a stage of the flagship makes of the weights it ends with."""

from thresher.jit import jit


@jit
def lane_sums(weights, first, last, sums):
    """Add to every slot's sum its weights on the lanes from ``first`` to ``last``."""
    for j in range(sums.size):
        mine = 0.0
        for lane in range(first, last):
            mine += weights[j, lane]
        sums[j] += mine


@jit
def follow_weights(weights, stable, newest, means):
    """Let the running means of stable features follow their newest weights."""
    for j in range(means.size):
        if stable[j]:
            means[j] += newest * (weights[j] - means[j])


@jit
def scores_of(means, saliences, stable, scores):
    """Write how much the weights of stable features stand out, one after the other."""
    n = 0
    for j in range(means.size):
        scores[n] = abs(means[j]) * saliences[j]
        n += stable[j]
    return n
