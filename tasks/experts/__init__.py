"""Small language models trained on one field of knowledge each, and filters of their texts (CooK).

Graphs are verbalized into training texts, experts are trained on these and kept in a registry, and
an answering model uses the experts' texts that pass filters for relevance, length and factuality.
"""
