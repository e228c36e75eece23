"""Fitted models for other programs: scikit-learn, ONNX, tables of weights.

A new kind of file is one function from ``Contents`` to bytes and one row in ``WRITERS``.
"""
