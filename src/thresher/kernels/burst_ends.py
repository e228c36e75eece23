"""What is done at the end of a burst: gravity, shorter steps, sums."""

import numpy as np

from thresher.jit import jit
from thresher.kernels.bundle import FRESH, RATE, SQUARES
from thresher.kernels.lanes import (
    LINE,
    clipped,
    load,
    load_half,
    minus,
    scaled,
    store,
    store_half,
)


@jit
def shrink(weights, j, pull):
    """Shrink the weight of a path that is alone."""
    weight = weights[j, 0]
    weights[j, 0] = weight - min(max(weight, -pull), pull)


@jit
def shrink_lanes(weights, j, pull, parts, number):
    """Shrink a slot's weights on the paths that took part in the burst."""
    lanes = load(weights, j)
    store(weights, j, minus(lanes, clipped(lanes, scaled(load(parts, number), pull))))


@jit
def shrink_half(halves, j, pull, parts, first):
    """Shrink half a line of weights on the paths that took part, of which it has those from one on.

    Where there is no path there is no weight, whatever stands in ``parts``.
    """
    mine = np.uint64(LINE // 2 // halves.itemsize) * np.uint64(j)
    lanes = load_half(halves, mine)
    bounds = scaled(load_half(parts, first), pull)
    store_half(halves, mine, minus(lanes, clipped(lanes, bounds)))


@jit
def rate_after(squares, halving):
    """Return how long steps are after squared gradients of such a sum."""
    return 1.0 / (1.0 + np.float64(np.sqrt(squares)) / halving)


@jit
def pool_ratios(bundle):
    """Note how far the gradients of the burst went one way, of the features left."""
    n = 0
    for j in range(bundle.pace.shape[0]):
        if bundle.pace[j, FRESH] > 0.0:
            if bundle.pace[j, RATE] > 0.0:
                bundle.owners[n] = j
                bundle.ratios[n] = abs(bundle.push[j]) / np.sqrt(bundle.pace[j, FRESH])
                n += 1
            bundle.push[j] = 0.0
    bundle.pooled[0] = n


@jit
def pay_gravity(rules, step, shares, number, bundle):
    """Shrink touched weights by the gradients they have had."""
    pace, parts = bundle.pace, shares.parts
    alone = parts.shape[1] == 1
    first = number * parts.shape[1]
    for j in range(pace.shape[0]):
        if pace[j, FRESH] > 0.0 and pace[j, RATE] > 0.0:
            pull = rules.gravity * step * pace[j, RATE] * np.sqrt(pace[j, FRESH])
            if alone:
                shrink(bundle.weights, j, pull)
            elif rules.parted:
                shrink_half(bundle.weights, j, pull, parts, first)
                place = abs(bundle.places[j])
                shrink_half(bundle.fits, place, pull, parts, first + shares.fitting)
            else:
                shrink_lanes(bundle.weights, j, pull, parts, number)


@jit
def shorten_steps(halving, bundle):
    """Add the burst's squared gradients to those before it, and shorten the steps accordingly."""
    pace, squares, bias_facts = bundle.pace, bundle.squares, bundle.bias_facts
    for j in range(pace.shape[0]):
        if pace[j, FRESH] > 0.0:
            if pace[j, RATE] > 0.0:
                squares[j] += pace[j, FRESH]
                pace[j, RATE] = rate_after(squares[j], halving)
            pace[j, FRESH] = 0.0
    bias_facts[0, SQUARES] += bias_facts[0, FRESH]
    bias_facts[0, RATE] = rate_after(bias_facts[0, SQUARES], halving)
    bias_facts[0, FRESH] = 0.0


@jit
def add_weights(bundle):
    """Sum the weights over paths and ends of bursts."""
    for j in range(bundle.pace.shape[0]):
        if bundle.pace[j, RATE] > 0.0:
            for lane in range(bundle.weights.shape[1]):
                bundle.total[j] += bundle.weights[j, lane]
    for lane in range(bundle.bias.shape[1]):
        bundle.bias_total[0] += bundle.bias[0, lane]


@jit
def end_burst(rules, pools, step, shares, number, bundle):
    """Do what is due at the end of a burst."""
    bundle.pooled[0] = 0
    if pools:
        pool_ratios(bundle)
    if rules.gravity > 0.0:
        pay_gravity(rules, step, shares, number, bundle)
    shorten_steps(rules.halving, bundle)
    if rules.averages:
        add_weights(bundle)
