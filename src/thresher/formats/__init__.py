"""Rows in files and elsewhere: one file for each format, found by name or ending."""
