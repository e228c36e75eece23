"""The only loop: which rows reach a learner, in which order, until when."""

from thresher.train.model import Model
from thresher.train.passes import Passes
from thresher.train.problem import Problem
from thresher.train.second_look import Recall, Sample

__all__ = ["Model", "Passes", "Problem", "Recall", "Sample"]
