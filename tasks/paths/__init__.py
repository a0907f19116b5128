"""Graph paths that matter to a question, and the choice of how to phrase them.

KnowGPT (arXiv 2312.06185).
"""
