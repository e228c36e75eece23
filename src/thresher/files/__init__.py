"""Bytes on disk: written whole or not at all, and never read unchecked."""
