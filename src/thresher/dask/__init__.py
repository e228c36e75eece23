"""The flagship on data that are spread over machines: shards of rows, and tasks of Dask."""

from thresher.dask.estimators import ThresherClassifier, ThresherRegressor

__all__ = ["ThresherClassifier", "ThresherRegressor"]
