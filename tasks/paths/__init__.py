"""Extraction of graph paths that are relevant to a question, and the choice of their phrasing.

This follows KnowGPT (arXiv 2312.06185).
"""
