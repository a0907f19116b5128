"""Filters of the experts' texts: relevance, pruning, factuality and sampling (CooK)."""
