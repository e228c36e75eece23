"""A fitted estimator for others: as scikit-learn's, as an ONNX graph, as a table of weights."""
