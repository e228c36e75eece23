"""Run the demonstration: ``python -m thresher.demo``."""

from thresher.demo import main

main()
