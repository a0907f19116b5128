"""The systems with which the papers compare themselves, such as KnowledGPT's baselines."""
