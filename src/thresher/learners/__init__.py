"""One file per algorithm: its settings, its state, and how it advances."""
