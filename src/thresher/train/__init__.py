"""The only loop: which rows reach a learner, in which order, until when."""

from thresher.train.fit import Passes
from thresher.train.model import Model
from thresher.train.problem import Problem

__all__ = ["Model", "Passes", "Problem"]
