"""Files that are written whole or not at all, and never read unchecked."""
