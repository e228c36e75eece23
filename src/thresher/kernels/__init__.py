"""Compiled code only: arrays and numbers in, arrays changed in place."""
