"""Long measurements, one command each; their results lie in `results/`."""
