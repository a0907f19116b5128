"""What helps when a model answers with experts: CooK's figures 2 to 9, for any home."""
